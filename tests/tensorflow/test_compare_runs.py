# SPDX-License-Identifier: Apache-2.0
"""`anynpu compare` on runs with a planted fault: it names the node that the fault is in, nobody where there is none.
The golden is another run on the NPU, or every operator of TensorFlow's CPU as an array."""

import csv
import os
import pathlib
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).with_name("compared_run.py")
PLANTED = {
    ("cnn", "epsilon"): "model/norm/FusedBatchNormV3",
    ("cnn", "weight"): "model/conv1/Conv2D",
    ("cnn", "bias"): "model/conv1/Conv2D",
    ("encoder", "epsilon"): "model/layer1/norm/add",
    ("encoder", "weight"): "model/layer1/up/Tensordot/MatMul",
    ("encoder", "bias"): "model/layer1/up/Tensordot/MatMul",
}


def compare(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", "anynpu", "compare", *map(str, arguments)], capture_output=True, text=True
    )
    return done.returncode, done.stdout + done.stderr


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
        (file,) = step.glob("*.model_head_MatMul.*")
        file.write_bytes(file.read_bytes()[:50])
    code, told = compare(copy, golden)
    assert code == 0 and "not read: " in told and "model_head_MatMul" in told, told


def test_dumps_of_two_models_are_refused(run):
    code, told = compare(run("cnn", "none", "all"), run("encoder", "none", "cpu"))
    assert code in (3, 4) and "anynpu compare: " in told, told
