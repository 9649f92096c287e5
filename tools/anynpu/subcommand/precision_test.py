# SPDX-License-Identifier: Apache-2.0
import pytest

from anynpu.command_test import anynpu
from anynpu.library import door


def rows(*arguments, **environment):
    code, out, err = anynpu("precision", *arguments, **environment)
    assert code == 0, err
    return [[cell.strip() for cell in line.split("  ") if cell] for line in out.splitlines()[1:]]


@pytest.mark.parametrize(
    ("mode", "effects"),
    [
        ("origin", ["as the graph says"] * 4),
        ("force_fp16", ["float16", "float16", "float16", "float16"]),
        ("allow_fp32_to_bf16", ["bfloat16", "as the graph says", "as the graph says", "as the graph says"]),
        ("cube_fp16in_fp32out", ["float16 in, float32 out", "float32", "float32", "float32"]),
        ("mixed_float16", ["float16", "as what comes before it", "float32",
                           "as what comes before it, else as what reads it"]),
    ],
)  # fmt: skip
def test_what_a_mode_makes_of_an_operator_of_each_list(mode, effects):
    names = ["MatMul", "BiasAdd", "Exp", "Relu"]
    found = {row[0]: row for row in rows("--mode", mode, *names)}
    assert [found[name][3] for name in names] == ["white", "gray", "black", "clear"]
    assert [found[name][-1] for name in names] == effects


def test_losses_and_variables_have_no_choice():
    found = {row[0]: row[-1] for row in rows("--mode", "fp16")}
    assert found["SparseSoftmaxCrossEntropyWithLogits"] == "float32" and found["ReadVariableOp"] == "as its variable"
    assert len(found) == len(door.operator_precisions()) > 250


def test_the_vendors_names_and_lists():
    (row,) = rows("MatMulV2", "--mode", "mixed_bfloat16")
    assert row[0] == "MatMul" and "MatMulV2" in row[1] and row[-1] == "bfloat16"
    assert {row[3] for row in rows("--list", "white")} == {"white"}


def test_wrong_names_are_told():
    code, _, err = anynpu("precision", "--mode", "fp8")
    assert code == 1 and "there is no precision mode fp8; there are force_fp16, " in err
    code, _, err = anynpu("precision", "Matmul")
    assert code == 1 and "the table has no operator Matmul" in err


def test_the_default_is_the_socs():
    assert rows("MatMul", ANYNPU_SOC="Ascend910A")[0][-1] == "float16"
    assert rows("MatMul", ANYNPU_SOC="Ascend910B1")[0][-1] == "as the graph says"
    code, _, err = anynpu("precision", "--mode", "mixed_bfloat16", ANYNPU_SOC="Ascend910A")
    assert code == 1 and "Ascend910A has no bfloat16" in err
