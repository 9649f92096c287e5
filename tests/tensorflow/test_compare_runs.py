# SPDX-License-Identifier: Apache-2.0
"""`anynpu compare` on runs with a planted fault: it names the node that the fault is in, nobody where there is none.
The golden is another run on the NPU, or every operator of TensorFlow's CPU as an array."""

import csv
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).with_name("compared_run.py")
PLANTED = {  # a fused node is called by the last one that it holds
    ("cnn", "epsilon"): "model/norm/FusedBatchNormV3",
    ("cnn", "weight"): "model/conv1/BiasAdd",
    ("cnn", "bias"): "model/conv1/Conv2D",
    ("encoder", "epsilon"): "model/layer1/norm/add",
    ("encoder", "weight"): "model/layer1/up/Gelu/mul_1",
    ("encoder", "bias"): "model/layer1/up/Gelu/mul_1",
}


def compare(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", "anynpu", "compare", *map(str, arguments)], capture_output=True, text=True
    )
    return done.returncode, done.stdout + done.stderr


NOTHING_OF_THEIR_OWN = {"Const", "Data", "Identity", "NetOutput", "NoOp", "ReadVariableOp", "Reshape", "ShapeN"}


def dumped(folder):
    """The folder of the step's dump files, and the operators of the graph's text."""
    (step,) = folder.glob("files/*/0/*lambda*/*/0")
    (text,) = folder.glob("ge_proto_*_Build.txt")
    subprocess.run(["atc", "--mode=5", f"--om={text}", f"--json={folder}/graph.json"], check=True, capture_output=True)
    graphs = json.loads((folder / "graph.json").read_text())["graph"]
    return step, text, [op for graph in graphs for op in graph["op"]]


def attributes(described):
    return {attr["key"]: attr["value"] for attr in described.get("attr", [])}


def word(name):
    return re.sub(r"[/\\. ]", "_", name)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder of a run, made once."""
    made = {}

    def folder(*words):
        if words not in made:
            made[words] = tmp_path_factory.mktemp("-".join(words))
            done = subprocess.run(
                [sys.executable, SCRIPT, *words], cwd=made[words], capture_output=True, text=True,
                env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"},
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
        return made[words]

    return folder


@pytest.mark.parametrize("golden", ["all", "output", "cpu"])
@pytest.mark.parametrize("model, fault", PLANTED)
@pytest.mark.promise("anynpu compare names the operator that a fault was planted in first")
def test_the_planted_operator_is_named_first(run, model, fault, golden):
    code, told = compare(run(model, fault, "all"), run(model, "none", golden))
    (first,) = (line for line in told.splitlines() if line.startswith("first: "))
    assert code == 1 and first.removeprefix("first: ").split(" ")[0].rstrip(":") == PLANTED[model, fault], told


@pytest.mark.parametrize("golden", ["all", "output", "cpu"])
@pytest.mark.parametrize("model", ["cnn", "encoder"])
@pytest.mark.promise("anynpu compare names nobody where nothing differs")
def test_nobody_is_named_where_nothing_is_planted(run, model, golden):
    code, told = compare(run(model, "none", "all"), run(model, "none", golden))
    assert code == 0 and "no difference" in told and "first:" not in told, told


def test_inputs_that_were_not_dumped_are_those_of_their_makers(run):
    code, told = compare(run("encoder", "none", "output"), run("encoder", "none", "cpu"))
    assert code == 0 and "no difference" in told, told


def test_tables_and_pages_tell_the_same(run, tmp_path):
    mine, golden = run("cnn", "epsilon", "all"), run("cnn", "none", "all")
    code, _ = compare(mine, golden, "--csv", tmp_path / "t.csv", "--html", tmp_path / "t.html")
    with open(tmp_path / "t.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    differ = [row["Operator"] for row in rows if row["Verdict"] == "differs"]
    assert code == 1 and differ[0] == "model/norm/FusedBatchNormV3" and len(rows) > 20
    page = (tmp_path / "t.html").read_text()
    assert "<circle" in page and "<rect" in page and "http" not in page and page.count("<tr") > 20
    assert len(page) < 300_000


def test_a_folder_of_any_level_is_taken(run):
    mine, golden = run("cnn", "epsilon", "all"), run("cnn", "none", "all")
    (step,) = mine.glob("files/*/0/*/*/0")
    code, told = compare(step, golden / "files")
    assert code == 1 and "first: model/norm/FusedBatchNormV3" in told, told


def test_a_corrupt_file_is_told_and_the_others_stand(run, tmp_path):
    mine, golden = run("cnn", "none", "all"), run("cnn", "none", "output")
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-r", mine, copy], check=True)
    for step in copy.glob("files/*/0/*/*/*"):
        (file,) = step.glob("*.model_head_BiasAdd.*")
        file.write_bytes(file.read_bytes()[:50])
    code, told = compare(copy, golden)
    assert code == 0 and "not read: " in told and "model_head_BiasAdd" in told, told


def test_dumps_of_two_models_are_refused(run):
    code, told = compare(run("cnn", "none", "all"), run("encoder", "none", "cpu"))
    assert code in (3, 4) and "anynpu compare: " in told, told


@pytest.mark.parametrize("model", ["cnn", "encoder"])
@pytest.mark.promise("dump files and the graph's text call a node the same, fused ones too, forward and backward")
def test_files_are_named_as_the_nodes_of_the_text(run, model):
    step, _, operators = dumped(run(model, "none", "all"))
    files = {tuple(path.name.split(".")[:2]) for path in step.iterdir()}
    nodes = {(word(op["type"]), word(op["name"])) for op in operators}
    assert not files - nodes
    assert {kind for kind, _ in nodes - files} <= NOTHING_OF_THEIR_OWN
    fused = {name for kind, name in files if kind.startswith("_Fused")}
    assert any("gradient_tape" in name for name in fused) and any("gradient_tape" not in name for name in fused)


@pytest.mark.parametrize("model", ["cnn", "encoder"])
def test_outputs_of_fused_nodes_name_outputs_that_the_client_has(run, model):
    _, _, operators = dumped(run(model, "none", "all"))
    arrays = {tuple(path.name.split(".")[:2]) for path in (run(model, "none", "cpu") / "arrays").iterdir()}
    known = {name for name, _ in arrays}
    fused = [op for op in operators if op["type"].startswith("_Fused")]
    assert len(fused) >= 4
    for op in fused:
        held = attributes(op)["_datadump_original_op_names"]["list"]["s"]
        assert op["name"] in held
        for output in map(attributes, op.get("output_desc", [])):
            origin = output["_datadump_origin_name"]["s"]
            assert origin == "" or origin in held
            if word(origin) in known:
                assert (word(origin), str(output["_datadump_origin_output_index"]["i"])) in arrays


@pytest.mark.parametrize("model", ["cnn", "encoder"])
@pytest.mark.promise("msaccucmp compare -f finds the dumps of fused nodes and compares their outputs with the CPU's")
def test_msaccucmp_compares_fused_outputs(run, model, tmp_path):
    step, text, operators = dumped(run(model, "none", "all"))
    golden = run(model, "none", "cpu") / "arrays"
    subprocess.run(
        ["msaccucmp", "compare", "-m", step, "-g", golden, "-f", text, "-out", tmp_path], capture_output=True
    )
    (result,) = tmp_path.glob("result_*.csv")
    with open(result, newline="") as file:
        rows = {row["TensorIndex"]: row for row in csv.DictReader(file)}
    fused = [op for op in operators if op["type"].startswith("_Fused") and op.get("output_desc")]
    for op in fused:
        row = rows[f"{op['name']}:output:0"]
        assert float(row["CosineSimilarity"]) > 0.9999, row
    assert len(fused) >= 4
