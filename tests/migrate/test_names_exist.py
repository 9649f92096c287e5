# SPDX-License-Identifier: Apache-2.0
"""Every name of npu_device that the TensorFlow rules write is there, or stands in rules/pending.tsv with what it waits
for; and nothing stands there that has come."""

import ast
import builtins
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


def header(tf1):
    """What the star import of the compat header gives."""
    lines = (Path(__file__).parent / "npu_init.tsv").read_text().splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return {name for name, *only in rows if tf1 or not only}


def steps(files=FILES):
    """The lines of all rules but those of their examples: what they write."""
    for path in files:
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
        if hasattr(thing, name):
            thing = getattr(thing, name)
            continue
        try:  # tensorflow.python is a module that tensorflow does not name
            thing = importlib.import_module(".".join([HEADS.get(head, head), *rest[:i]]))
        except ImportError:
            return False
    return True


def waits(dotted):
    parts = dotted.split(".")
    return any(".".join(parts[:i]) in pending() for i in range(1, len(parts) + 1)) or parts[-1] in pending()


def chain(node):
    """ "a.b.c" of such an expression, or None."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


def imported(tree):
    """{name: what it is imported as} and the modules of star imports."""
    names, stars = {}, set()
    for node in ast.walk(tree):
        for alias in getattr(node, "names", []) if isinstance(node, ast.Import | ast.ImportFrom) else []:
            if isinstance(node, ast.Import):
                names[alias.asname or alias.name.split(".")[0]] = (
                    alias.name if alias.asname else alias.name.split(".")[0]
                )
            elif alias.name == "*":
                stars.add(node.module)
            elif node.module != "__future__":
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names, stars


def unresolved(text, tf1):
    """What a migrated script names and nobody gives: imports, names of modules, names bound nowhere."""
    tree = ast.parse(text)
    names, stars = imported(tree)
    wanted = set(names.values()) | stars
    for node in ast.walk(tree):
        dotted = chain(node) if isinstance(node, ast.Attribute) else None
        if dotted and names.get(dotted.split(".")[0], "").startswith(("tensorflow", "npu_device")):
            first, _, rest = dotted.partition(".")
            wanted.add(f"{names[first]}.{rest}")
    heads = {"npu_device": "npu", "tensorflow": "tensorflow.compat.v1"}

    def given(dotted):
        first, _, rest = dotted.partition(".")
        return (
            exists(dotted) or waits(dotted) or (rest and (waits(f"npu.{rest}") or exists(f"{heads.get(first)}.{rest}")))
        )

    bound = set(names) | set(dir(builtins)) | {"__file__"} | (header(tf1) if stars else set())
    bound |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    bound |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return {dotted for dotted in wanted if not given(dotted)} | (read - bound)


@pytest.fixture(scope="module", autouse=True)
def tensorflow():
    pytest.importorskip("tensorflow")


def test_rules_write_something():
    assert "npu.open" in written() and any("npu_callbacks_append" in name for name in written())


@pytest.mark.parametrize("name", written())
def test_name(name):
    assert exists(name) or waits(name), f"rules write {name}, which npu_device has not and pending.tsv does not tell"


def test_pending():
    for name, what in pending().items():
        whole = [each for each in written() if each == name or each.startswith(name + ".") or each.endswith("." + name)]
        assert whole, f"no rule writes {name}: drop it from rules/pending.tsv"
        assert not all(exists(each) for each in whole), f"{name} is there: drop it from rules/pending.tsv"
        assert what, f"{name}: says nothing of what it waits for"


NAME = re.compile(r"(?<![\w.])([A-Za-z_]\w*)(?=[.(])")
BESIDE_THE_HEADER = {"npu", "os", "int", "npu_device", "npu_bridge", "horovod"}


@pytest.mark.parametrize("mode", ["compat", "tf1"])
def test_names_of_the_compat_header(mode):
    """Whatever a rule writes below the star import is one of the names that it gives."""
    files = [path for path in FILES if path.name.startswith(mode)]
    texts = [line for line in steps(files) if line.startswith("  - ") or line.startswith(("  imports:", "  lines:"))]
    written = {name for text in texts for name in NAME.findall(text.replace("\\n", " "))}
    assert "npu_config_proto" in written or mode == "tf1"
    assert written - BESIDE_THE_HEADER <= header(mode == "tf1")


HEADERS = {"npu_device.compat.v1.npu_init": False, "npu_bridge.npu_init": True}


@pytest.mark.parametrize(
    "module, name", [(module, name) for module in HEADERS for name in sorted(header(HEADERS[module]))]
)
def test_name_of_a_header(module, name):
    assert exists(f"{module}.{name}") or waits(module), f"{module} is there and gives no {name}"


def test_code_writes_no_other_names():
    """Code of rules writes names in the data too, so that the tests above see them."""
    texts = set()
    for path in (RULES.parent / "code").glob("tensorflow*.cpp"):
        code = re.sub(r"//[^\n]*", "", path.read_text())
        texts |= {ast.literal_eval(text) for text in re.findall(r'"(?:[^"\\\n]|\\.)*"', code)}
    rules = "\n".join(steps())
    for text in texts:
        for name in re.findall(r"\bnpu_\w+\(", text):
            if not text.startswith(("npu_device.", "npu_bridge.")) and not text.endswith("()"):
                assert name in rules, f"{name} is written by code and by no rule's data"
