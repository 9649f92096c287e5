# SPDX-License-Identifier: Apache-2.0
"""Every name of npu_device that the TensorFlow rules write is there, or stands in rules/pending.tsv with what it waits
for; and nothing stands there that has come."""

import ast
import importlib
import re
from pathlib import Path

import pytest

RULES = Path(__file__).resolve().parents[2] / "tools/migrate/rules"
FILES = [p for p in sorted(RULES.glob("*.yaml")) if p.name.startswith(("tf", "compat"))]
HEADS = {"npu": "npu_device"}
# Written only below `from npu_device.compat.v1.npu_init import *` (TensorFlow 1: npu_bridge.npu_init).
STARS = re.compile(r"\bfrom ((?:npu_device|npu_bridge)[\w.]*) import \*")


def pending():
    lines = (RULES / "pending.tsv").read_text().splitlines()
    return dict(line.split("\t") for line in lines if line and not line.startswith("#"))


def steps():
    """The lines of all rules but those of their examples: what they write."""
    for path in FILES:
        inside = True
        for line in path.read_text().splitlines():
            if re.match(r"  \w|- id", line):
                inside = not line.startswith(("  examples:", "  what:", "  why:", "  message:"))
            if inside:
                yield line


def written():
    """Dotted names, as `npu.train.optimizer.X` or `npu_device.distribute.hccl.npu_callbacks_append`."""
    out = set()
    for line in steps():
        out |= {m[0] for m in re.finditer(r"\bnpu\.\w+(\.\w+)*", line)}
        for module, names in re.findall(r"\bfrom (npu_device[\w.]*) import ([\w, ]+)", line):
            out |= {f"{module}.{name.strip()}" for name in names.split(",") if name.strip()}
        out |= {m[1] for m in STARS.finditer(line)}
    return sorted(out)


def exists(dotted):
    head, *rest = dotted.split(".")
    try:
        thing = importlib.import_module(HEADS.get(head, head))
    except ImportError:
        return False
    for i, name in enumerate(rest, 1):
        if not hasattr(thing, name):
            try:
                importlib.import_module(".".join([HEADS.get(head, head), *rest[:i]]))
            except ImportError:
                return False
        thing = getattr(thing, name)
    return True


def waits(dotted):
    parts = dotted.split(".")
    return any(".".join(parts[:i]) in pending() for i in range(1, len(parts) + 1)) or parts[-1] in pending()


@pytest.fixture(scope="module", autouse=True)
def tensorflow():
    pytest.importorskip("tensorflow")


def test_rules_write_something():
    assert "npu.open" in written() and any("npu_callbacks_append" in name for name in written())


@pytest.mark.parametrize("name", written())
def test_name(name):
    assert exists(name) or waits(name), f"rules write {name}, which npu_device has not and pending.tsv does not tell"


@pytest.mark.parametrize("name", sorted(pending()))
def test_pending(name):
    whole = [each for each in written() if each == name or each.startswith(name + ".") or each.endswith("." + name)]
    assert whole, f"no rule writes {name}: drop it from rules/pending.tsv"
    assert not all(exists(each) for each in whole), f"{name} is there: drop it from rules/pending.tsv"
    assert pending()[name], "says nothing of what it waits for"


def test_code_writes_no_other_names():
    """Code of rules writes names in the data too, so that the tests above see them."""
    texts = set()
    for path in (RULES.parent / "rule/code").glob("tensorflow*.cpp"):
        code = re.sub(r"//[^\n]*", "", path.read_text())
        texts |= {ast.literal_eval(text) for text in re.findall(r'"(?:[^"\\\n]|\\.)*"', code)}
    rules = "\n".join(steps())
    for text in texts:
        for name in re.findall(r"\bnpu_\w+\(", text):
            if not text.startswith(("npu_device.", "npu_bridge.")) and not text.endswith("()"):
                assert name in rules, f"{name} is written by code and by no rule's data"
