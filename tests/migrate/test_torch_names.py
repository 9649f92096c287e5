# SPDX-License-Identifier: Apache-2.0
"""Every name that the rules for PyTorch write is there in the vendor's wheel."""

import ast
import fnmatch
import importlib
import pathlib

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_npu")
yaml = pytest.importorskip("yaml")

RULES = pathlib.Path(__file__).parents[2] / "tools/migrate/rules"
BOOK = [rule for path in sorted(RULES.glob("torch*.yaml")) for rule in yaml.safe_load(path.read_text())["rules"]]


def written():
    """Dotted names below torch.npu and torch_npu in what examples come out as, by rule."""
    for rule in BOOK:
        for example in rule["examples"]:
            tree = ast.parse(example.get("after", example["before"]))
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    names = [f"{node.module}.{each.name}" for each in node.names if each.name != "*"]
                elif isinstance(node, ast.Import):
                    names = [each.name for each in node.names]
                else:
                    names = [ast.unparse(node)] if isinstance(node, ast.Attribute) else []
                for name in names:
                    if name.startswith(("torch.npu", "torch_npu")) and name.replace(".", "").isidentifier():
                        yield rule["id"], name


def found(name):
    """Whether a dotted name is there, submodules imported as needed; a call's result is not looked into."""
    parts = name.split(".")
    value = importlib.import_module(parts[0])
    for i, part in enumerate(parts[1:], 2):
        if not hasattr(value, part) and parts[0] == "torch_npu":
            importlib.import_module(".".join(parts[:i]))
        if not hasattr(value, part):
            return False
        value = getattr(value, part)
    return True


def test_written_names_are_there():
    missing = sorted({f"{rule}: {name}" for rule, name in written() if not found(name)})
    assert not missing


@pytest.mark.parametrize("module", ["", ".amp", ".random"])
def test_names_of_torch_cuda_are_there(module):
    """torch.cuda.x becomes torch.npu.x for all x that the rule does not leave out."""
    kept = next(rule for rule in BOOK if rule["id"] == "torch-cuda")["except"]
    cuda = importlib.import_module("torch.cuda" + module)
    npu = importlib.import_module("torch_npu.npu" + module)
    names = [each for each in cuda.__all__ if not any(fnmatch.fnmatch("torch.cuda." + each, x) for x in kept)]
    missing = {each for each in names if not hasattr(npu, each)} - {"amp_definitely_not_available"}  # in amp.common
    assert not missing


def test_what_is_left_out_is_not_there():
    """A name of the list that torch_npu gets one day leaves the list."""
    kept = next(rule for rule in BOOK if rule["id"] == "torch-cuda")["except"]
    graphs = {"graph*", "make_graphed_callables"}  # there, and refused by the software NPU
    for pattern in kept:
        name = pattern.removeprefix("torch.cuda.")
        if name in graphs or name == "_*" or name.rstrip("*") != name:
            continue
        assert not hasattr(torch.npu, name), f"{name} is there: take it out of torch.yaml's list"
