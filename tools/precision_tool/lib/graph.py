# SPDX-License-Identifier: Apache-2.0
"""The graphs of a run as atc makes them of their texts, and their operators."""

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path

from .config import config as cfg
from .dump import RUNS
from .toolkit import PrecisionError, run


class Operator:
    """One operator of a graph."""

    def __init__(self, data):
        self.name, self.type = data["name"], data["type"]
        self.inputs = data.get("input", [])
        self.input_descs, self.output_descs = data.get("input_desc", []), data.get("output_desc", [])
        self.attrs = {attr["key"]: plain(attr.get("value", {})) for attr in data.get("attr", [])}

    @property
    def passes(self):
        """The fusion that made it, empty where it came from the client as it is."""
        named = self.attrs.get("pass_name", "")
        return ", ".join(named) if isinstance(named, list) else named

    @property
    def originals(self):
        found = self.attrs.get("_datadump_original_op_names", [])
        return [found] if isinstance(found, str) else [name for name in found if name]

    def kernel(self):
        return str(self.attrs.get(f"{self.name}_kernelname", ""))


def plain(value):
    """What an attribute holds, without the words of its kind."""
    if "list" in value:
        members = [member for members in value["list"].values() if isinstance(members, list) for member in members]
        return members
    return next(iter(value.values()), None) if isinstance(value, dict) else value


class Graph:
    def __init__(self, text, fusion_file, data):
        self.text, self.fusion_file, self.name = text, fusion_file, data.get("name", "")
        self.operators = [Operator(op) for op in data.get("op", [])]
        self.by_name = {op.name: op for op in self.operators}

    def readers(self, op):
        return [other for other in self.operators if any(producer(i) == op.name for i in other.inputs)]


def producer(edge):
    """The operator in "name:output"."""
    return edge.rpartition(":")[0]


def texts(run_name):
    return sorted(Path(cfg.NPU_DIR, run_name, "graph").rglob(f"ge_proto_*_{cfg.BUILD_JSON_GRAPH_NAME}.txt"))


def fusion_file(text, run_name):
    """The JSON of a graph's text, made by atc where it is not there yet."""
    made = Path(cfg.OP_GRAPH_DIR, run_name, text.parent.name, text.stem + ".json")
    if not made.exists() or made.stat().st_mtime < text.stat().st_mtime:
        made.parent.mkdir(parents=True, exist_ok=True)
        run("atc", "--mode=5", f"--om={text}", f"--json={made}")
    return made


@cache
def graphs(run_name):
    """All graphs of a run, each of the newest text that has its name."""
    found = {}
    for text in sorted(texts(run_name), key=lambda path: path.stat().st_mtime):
        made = fusion_file(text, run_name)
        for data in json.loads(made.read_text()).get("graph", []):
            found[data.get("name", "")] = Graph(text, made, data)
    return found


def operators(run_name, graph=None):
    known = graphs(run_name)
    if not known:
        raise PrecisionError(
            f"{Path(cfg.NPU_DIR, run_name, 'graph')} holds no graph; run the script with action='dump'"
        )
    if graph is not None and graph not in known:
        raise PrecisionError(f"there is no graph {graph}; there are {', '.join(known)}")
    return [op for name, one in known.items() if graph in (None, name) for op in one.operators]


def list_operators(kind, name, fusion, kernel):
    """`ls`: the operators that all words are part of; how many there are of each type without any word."""
    found = [op for op in operators(RUNS[0])
             if kind in op.type and name in op.name and fusion in op.passes and kernel in op.kernel()]  # fmt: skip
    if not any((kind, name, fusion, kernel)):
        for op_type, count in Counter(op.type for op in found).most_common():
            print(f"{op_type} : {count}")
        return
    for op in found:
        print(f"[{op.type}][{op.passes or ', '.join(op.originals[1:] and ['fused'])}] {op.name}".replace("[]", ""))
    if not found:
        raise PrecisionError("no operator is so; ls alone tells the types that there are")


def find(run_name, name, graph=None):
    """The operator of that name, or those whose names hold it, each with its graph."""
    known = {n: g for n, g in graphs(run_name).items() if graph in (None, n)}
    exact = [(g, g.by_name[name]) for g in known.values() if name in g.by_name]
    same = lambda op: re.sub(r"\W", "_", op.name) == re.sub(r"\W", "_", name) or name in op.originals  # noqa: E731
    spelled = exact or [(g, op) for g in known.values() for op in g.operators if same(op)]
    return spelled or [(g, op) for g in known.values() for op in g.operators if name in op.name]
