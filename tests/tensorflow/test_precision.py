# SPDX-License-Identifier: Apache-2.0
"""precision_mode and what goes with it: the dtype of every node, and what training makes of it. Options count when a
device is opened, so cases run in processes of their own, a device each."""

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import movement
import npu_device as npu
import numpy as np
import pytest
from npu_device.adapter import library
from tensorflow.core.framework import types_pb2
from tensorflow.python.framework import op_def_registry

HERE = Path(__file__).resolve().parent
with open(HERE.parents[1] / "graph/precision/precision.tsv") as file:
    ROWS = {row["operator"]: row for row in csv.DictReader(file, delimiter="\t")}
TABLE = {name: row for name, row in ROWS.items() if not name.startswith("ai.onnx::")}

MODES = {
    "force_fp16": ("force", "float16"), "allow_fp32_to_fp16": ("cube", "float16"),
    "allow_fp32_to_bf16": ("cube", "bfloat16"), "force_fp32": ("raise", "float16"),
    "cube_fp16in_fp32out": ("raise", "float16"), "must_keep_origin_dtype": ("origin", "float16"),
    "allow_mix_precision": ("mixed", "float16"), "allow_mix_precision_fp16": ("mixed", "float16"),
    "allow_mix_precision_bf16": ("mixed", "bfloat16"),
}  # fmt: skip
MODES_V2 = {
    "fp16": ("force", "float16"), "origin": ("origin", "float16"), "cube_fp16in_fp32out": ("raise", "float16"),
    "mixed_float16": ("mixed", "float16"), "mixed_bfloat16": ("mixed", "bfloat16"),
}  # fmt: skip
ALL = [({"precision_mode": m}, rule) for m, rule in MODES.items()]
ALL += [({"precision_mode_v2": m}, rule) for m, rule in MODES_V2.items()]


def run(cases, **variables):
    """(results and movement of the weights on the CPU by subject, what happened in each case)."""
    folders = [Path(npu.__file__).parents[1], HERE, HERE.parent / "support", os.environ.get("PYTHONPATH", "")]
    packages = os.pathsep.join(map(str, folders))
    known = os.environ | {"PYTHONPATH": packages, "ANYNPU_DEVICES": str(len(cases))} | variables
    done = subprocess.run([sys.executable, str(HERE / "precise.py")], input=json.dumps(cases), env=known, text=True,
                          capture_output=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def moved(arrays):
    return {name: np.array(array) for name, array in arrays.items()}


def by_name(told):
    return {node["node"]: node for node in told["nodes"]}


def documented(node, policy, reduced, nodes):
    """The dtype that the published rule gives a node of a float32 graph: what it computes in."""
    row = TABLE[node["op"]]
    if policy == "origin" or row["dtypes"] == "-" or node["source"] != "float32":
        return node["source"]
    if node["why"] == "its results only go into variables":  # what a program's optimizer is made of
        assert row["unit"] == "vector" and row["list"] in ("gray", "clear", "black") and policy in ("mixed", "force")
        return "float32"
    if node["why"].endswith(f"has a number beyond the range of {reduced}"):
        return "float32"
    if policy == "force":
        return reduced
    if policy == "cube":
        return reduced if row["unit"] == "cube" else "float32"
    if policy == "raise":
        return "float32"
    if row["list"] in ("white", "black"):
        return reduced if row["list"] == "white" else "float32"
    producer = node["why"].partition(": ")[2].rpartition(" is ")[0]
    return nodes[producer]["dtype"] if producer in nodes else node["dtype"]


@pytest.mark.promise("every `precision_mode` gives each node the dtype of the published table and trains within 2 %")
@pytest.mark.parametrize("subject", ["cnn", "attention"])
def test_every_mode_is_the_documented_rule_and_trains_within_two_percent(subject):
    wanted, told = run([{"subject": subject, "options": options} for options, _ in ALL])
    exact, exactly_moved = wanted[subject]
    for (options, (policy, reduced)), one in zip(ALL, told, strict=True):
        nodes = by_name(one)
        assert not one["warnings"] and nodes
        for node in nodes.values():
            assert node["dtype"] == documented(node, policy, reduced, nodes), (options, node)
        assert all(node["dtype"] == "float32" for name, node in nodes.items() if name.startswith("SGD/"))
        cubes = [n for n in nodes.values() if TABLE[n["op"]]["unit"] == "cube"]
        assert len(cubes) >= 6
        for node in cubes:
            rounded = ["float16"] * 2 if policy == "raise" else []
            assert node["inputs"][:2] == rounded, (options, node)
        worst = max(abs(a - b) / abs(b) for a, b in zip(one["results"], exact, strict=True))
        lowered = sum(n["dtype"] == reduced for n in nodes.values())
        print(f"{subject} {next(iter(options.values()))}: {lowered} of {len(nodes)} nodes in {reduced}, loss off by at "
              f"most {worst:.2e}, on the host {one['host']}")  # fmt: skip
        assert worst <= 0.02, options
        movement.assert_alike(moved(one["moved"]), moved(exactly_moved))
        if policy == "origin":
            assert worst <= 1e-4 and not lowered


def test_lists_and_rules_move_exactly_the_named(tmp_path):
    lists, rules, modes = tmp_path / "ops_info.json", tmp_path / "dtypes.cfg", tmp_path / "op_precision.ini"
    lists.write_text('{"black-list": {"to-add": ["Relu"]}, "white-list": {"to-remove": ["Conv2D"]}}')
    rules.write_text("# by name and by type\nsecond::InputDtype:float32,float32,OutputDtype:float32\n"
                     "OpType::Relu:InputDtype:float32\n")  # fmt: skip
    modes.write_text("[ByNodeName]\nlast=enable_float_32_execution\n[ByOpType]\nSoftmaxV2=high_precision\n")
    mixed = {"precision_mode_v2": "mixed_float16"}
    cases = [
        {"subject": "chain", "options": mixed},
        {"subject": "chain", "options": mixed | {"modify_mixlist": str(lists)}},
        {"subject": "chain", "options": mixed | {"customize_dtypes": str(rules)}},
        {"subject": "chain", "options": mixed | {"op_precision_mode": str(modes)}},
        {"subject": "cnn", "options": mixed},
        {"subject": "cnn", "options": mixed | {"modify_mixlist": str(lists)}},
    ]
    _, (plain, listed, ruled, moded, cnn, cnn_listed) = run(cases)

    def dtypes(told):
        return {name: node["dtype"] for name, node in by_name(told).items() if node["op"] in ("MatMul", "Relu")}

    half = {"kept": "float32", "first": "float16", "second": "float16", "last": "float16", "relu": "float16"}
    assert dtypes(plain) == half
    assert by_name(plain)["kept"]["why"] == "keep_dtype_scope"
    assert dtypes(listed) == half | {"relu": "float32"}
    assert dtypes(ruled) == half | {"second": "float32", "relu": "float32"}
    assert by_name(ruled)["second"]["why"] == "customize_dtypes line 2, by name"
    (idle,) = moded["warnings"]
    assert idle.startswith(f"op_precision_mode {modes}: high_precision has no effect (on SoftmaxV2): ")
    assert dtypes(moded) == half | {"last": "float32", "relu": "float32"}  # relu is clear: as what comes before it
    before, after = by_name(cnn), by_name(cnn_listed)
    named = {"Conv2D": "gray list by modify_mixlist", "Relu": "black list by modify_mixlist"}
    for name, node in before.items():
        moved = after[name]["dtype"] != node["dtype"]
        if node["op"] in named:
            assert after[name]["why"].startswith(named[node["op"]])
        elif moved:  # by a producer that moved, never by a list of its own
            assert after[name]["why"].startswith(("gray list: ", "clear list: ")), after[name]
    assert {n["dtype"] for n in before.values() if n["op"] == "Conv2D"} == {"float16"}
    assert {n["dtype"] for n in after.values() if n["op"] == "Relu"} == {"float32"}


def test_what_is_wrong_in_a_file_is_told_with_its_place(tmp_path):
    broken, unknown, asks = tmp_path / "broken.json", tmp_path / "unknown.json", tmp_path / "asks.cfg"
    broken.write_text('{"black-list": {\n  "to-add": ["Relu"] relu\n}}')
    unknown.write_text('{"black-list": {"to-add": ["Matmul"]}}')
    asks.write_text("first::InputDtype:int8\n")
    mixed = {"precision_mode": "allow_mix_precision"}
    cases = [
        {"subject": "chain", "options": mixed | {"modify_mixlist": str(broken)}},
        {"subject": "chain", "options": mixed | {"customize_dtypes": str(tmp_path / "none.cfg")}},
        {"subject": "chain", "options": mixed | {"modify_mixlist": str(unknown)}},
        {"subject": "chain", "options": mixed | {"customize_dtypes": str(asks)}},
    ]
    _, (syntax, missing, notice, unsupported) = run(cases)
    assert syntax["refused"].startswith(f"option modify_mixlist is '{broken}': line 2, column 22: this is no JSON")
    assert syntax["refused"].count("line") == 1
    assert missing["refused"] == (f"option customize_dtypes is '{tmp_path / 'none.cfg'}': No such file or directory; "
                                  "name a file that can be read")  # fmt: skip
    assert notice["warnings"] == [f"modify_mixlist {unknown}: there is no operator Matmul; there is MatMul"]
    assert "customize_dtypes line 1 asks for int8 as its input 0; MatMul on" in unsupported["failed"]
    assert re.search(r"node '?first", unsupported["failed"]), unsupported["failed"]


def test_the_default_is_that_of_the_soc():
    bfloat16 = {"subject": "chain", "options": {"precision_mode": "allow_fp32_to_bf16"}}
    _, (default, refused) = run([{"subject": "chain"}, bfloat16], ANYNPU_SOC="Ascend910A")
    assert {n["dtype"] for n in default["nodes"] if n["op"] == "MatMul" and n["node"] != "kept"} == {"float16"}
    assert refused["refused"] == ("option precision_mode is allow_fp32_to_bf16, and Ascend910A has no bfloat16; choose "
                                  "a mode of float16, or another SoC by ANYNPU_SOC")  # fmt: skip
    _, (default, reduced) = run([{"subject": "chain"}, bfloat16], ANYNPU_SOC="Ascend910B1")
    assert default["nodes"] == []
    assert {n["dtype"] for n in reduced["nodes"] if n["op"] == "MatMul" and n["node"] != "kept"} == {"bfloat16"}


def test_what_a_program_makes_float16_stays_unless_all_is_raised():
    cases = [{"subject": "cnn", "dtype": "mixed_float16", "options": {"precision_mode": m}}
             for m in ("must_keep_origin_dtype", "allow_mix_precision", "force_fp32")]  # fmt: skip
    wanted, (origin, mixed, raised) = run(cases)
    explicit = {n for n, node in by_name(origin).items() if node["source"] == "float16"}
    assert len(explicit) > 10
    assert all(by_name(mixed)[n]["dtype"] == "float16" for n in explicit)
    assert all(by_name(raised)[n]["dtype"] == "float32" for n in explicit)
    for one in (origin, mixed, raised):
        worst = max(abs(a - b) / abs(b) for a, b in zip(one["results"], origin["results"], strict=True))
        assert worst <= 0.02
        movement.assert_alike(moved(one["moved"]), moved(wanted["cnn"][1]))


def takes(op_def, attribute, dtype):
    allowed = next(a for a in op_def.attr if a.name == attribute).allowed_values.list.type
    return not allowed or dtype in allowed


@pytest.mark.parametrize("op", [name for name, row in TABLE.items() if row["dtypes"] != "-"])
def test_the_table_fits_the_operators_of_tensorflow(op):
    """Each dtype is one that the operator's attribute takes, and the inputs and outputs that stay are those of another
    attribute or of a type that is given."""
    row, op_def = TABLE[op], op_def_registry.get(op)
    attributes = row["attributes"].split()
    for dtype in row["dtypes"].split():
        number = {"float16": types_pb2.DT_HALF, "bfloat16": types_pb2.DT_BFLOAT16}[dtype]
        assert all(takes(op_def, a, number) for a in attributes)
    for arguments, fixed in ((op_def.input_arg, row["fixed_inputs"]), (op_def.output_arg, row["fixed_outputs"])):
        stay = {int(i) for i in fixed.replace("-", "").split()}
        for i, argument in enumerate(arguments):
            float_too = argument.type == types_pb2.DT_FLOAT or (
                argument.type_attr not in ("", *attributes) and takes(op_def, argument.type_attr, types_pb2.DT_FLOAT)
            )
            assert (i in stay) == float_too, (argument.name, i)


def test_an_edited_file_of_operator_information_counts(tmp_path):
    """The guides' second way to move an operator: a flag in a copy of the file."""
    name = "built-in/op_impl/ai_core/tbe/config/ascend910b/aic-ascend910b-ops-info.json"
    subprocess.run([sys.executable, HERE.parents[1] / "cmake/operator_info.py", tmp_path], check=True)
    known = json.loads((tmp_path / name).read_text())
    known["Relu"]["precision_reduce"] = {"flag": "false"}
    (tmp_path / name).write_text(json.dumps(known))
    lists = tmp_path / "lists.json"
    lists.write_text('{"white-list": {"to-add": ["Relu"]}}')
    mixed = {"precision_mode_v2": "mixed_float16"}
    cases = [
        {"subject": "chain", "options": mixed},
        {"subject": "chain", "options": mixed | {"modify_mixlist": str(lists)}},
    ]
    _, (edited, listed) = run(cases, ASCEND_OPP_PATH=str(tmp_path))
    relu = by_name(edited)["relu"]
    assert (relu["dtype"], relu["why"]) == ("float32", f"black list by {tmp_path / name}")
    assert by_name(listed)["relu"]["why"] == "white list by modify_mixlist"


def test_the_vendors_operators_are_in_the_table():
    visited = {}
    visit = library.C.CFUNCTYPE(None, library.C.POINTER(Line), library.C.c_void_p)
    library.load().anynpu_each_operator_precision(visit(lambda line, _: visited.update(line[0].read())), None)
    assert set(visited) == set(ROWS)
    names = {alias: op for op, (aliases, *_) in visited.items() for alias in aliases.split()}
    for name in ("Conv2D", "MatMulV2", "BatchMatMulV2", "BNTrainingReduce", "SoftmaxV2", "ReduceSumD", "ApplyMomentum",
                 "Relu", "Add", "BiasAdd", "SoftmaxCrossEntropyWithLogits", "ReduceMeanD", "TransposeD"):  # fmt: skip
        assert name in names, name
    assert visited["ResourceApplyMomentum"] == ("ApplyMomentum ApplyMomentumD", "variable", "black", "")


class Line(library.C.Structure):
    _fields_ = [("struct_size", library.C.c_size_t)]
    _fields_ += [(name, library.C.c_char_p) for name in ("op", "aliases", "unit", "list", "dtypes")]

    def read(self):
        return {self.op.decode(): tuple(getattr(self, n).decode() for n in ("aliases", "unit", "list", "dtypes"))}
