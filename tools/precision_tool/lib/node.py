# SPDX-License-Identifier: Apache-2.0
"""`ni`: what is known of one operator: in the graph, in dumps of both runs, in the golden."""

import re
import shutil
import subprocess
from pathlib import Path

from . import dump, graph
from .config import config as cfg
from .toolkit import PrecisionError, say

MOST = 5


def show(name, of_graph=None, with_attributes=False, depth=0):
    found = graph.find(dump.RUNS[0], name, of_graph)
    if not found:
        graph.operators(dump.RUNS[0], of_graph)  # tells what is missing
        raise PrecisionError(f"no operator is called {name}; ls -n PART lists those whose names hold a part")
    if len(found) > MOST:
        raise PrecisionError(f"{len(found)} operators are called so: {', '.join(op.name for _, op in found[:MOST])}, …")
    for one, op in found:
        show_operator(one, op, with_attributes)
        if depth > 0:
            save(one, op, depth)


def show_operator(one, op, with_attributes):
    print(f"-[{op.type}]{op.name}-")
    print(f" [{op.type}] {op.name}")
    if op.passes:
        print(f" PassName: {op.passes}")
    if op.originals and op.originals != [op.name]:
        print(f" OriginOp: {op.originals}")
    print(" Input:")
    for index, edge in enumerate(op.inputs):
        print(f"  -[{index}]{described(op.input_descs, index, producing(one, edge))} {edge}")
    print(" Output:")
    readers = [reader.name for reader in one.readers(op)]
    for index in range(len(op.output_descs)):
        print(f"  -[{index}]{described(op.output_descs, index)} {readers if index == 0 else ''}".rstrip())
    if with_attributes:
        print(" Attr:")
        for key, value in op.attrs.items():
            print(f"  -{key}: {value}")
    for run_name in dump.RUNS:
        show_dumps(run_name, op)
    arrays = dump.golden(op.name) or [a for name in op.originals for a in dump.golden(name)]
    show_arrays("TfDump:", arrays)


def producing(one, edge):
    """The description of the output that an edge comes from."""
    name, _, index = edge.rpartition(":")
    maker = one.by_name.get(name)
    return maker.output_descs[int(index)] if maker and 0 <= int(index) < len(maker.output_descs) else {}


def described(descs, index, otherwise=None):
    desc = descs[index] if index < len(descs) else otherwise or {}
    return f"[{desc.get('dtype', '')}][{desc.get('layout', '')}]{desc.get('shape', {}).get('dim', [])}"


def show_dumps(run_name, op):
    for path in dump.of_operator(run_name, op.name):
        arrays = dump.decode(path, Path(cfg.DUMP_DECODE_DIR, run_name))
        step = f" {run_name} step {path.parent.name}"
        show_arrays(f"NpuDumpInput:{step}", [a for a in arrays if ".input." in a.name])
        show_arrays(f"NpuDumpOutput:{step}", [a for a in arrays if ".output." in a.name])


def show_arrays(title, arrays):
    if arrays:
        print(f" {title}")
        print("\n".join(f" {line}" for line in dump.ranges(arrays)))


def around(one, op, depth):
    """The operators that are at most `depth` edges away."""
    near, ring = {op.name}, {op.name}
    for _ in range(depth):
        ring = {graph.producer(edge) for name in ring for edge in one.by_name[name].inputs}
        ring |= {other.name for other in one.operators if near & {graph.producer(edge) for edge in other.inputs}}
        ring = {name for name in ring if name in one.by_name} - near
        near |= ring
    return near


def save(one, op, depth):
    """The graph around an operator as a file of Graphviz, and as a picture where Graphviz is installed."""
    near = around(one, op, depth)
    quoted = lambda text: '"' + text.replace('"', "'") + '"'  # noqa: E731
    lines = [f"{quoted(name)} [shape=box, label={quoted(one.by_name[name].type + chr(92) + 'n' + name)}"
             + (", style=filled]" if name == op.name else "]") for name in sorted(near)]  # fmt: skip
    lines += [f"{quoted(graph.producer(edge))} -> {quoted(name)}" for name in sorted(near)
              for edge in one.by_name[name].inputs if graph.producer(edge) in near]  # fmt: skip
    path = Path(cfg.OP_GRAPH_DIR, re.sub(r"\W", "_", op.name)[-100:] + f".{depth}.dot")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("digraph {\n" + "\n".join(lines) + "\n}\n")
    if shutil.which("dot") and not subprocess.run(["dot", "-Tsvg", "-O", path]).returncode:
        path = path.with_name(path.name + ".svg")
    say("INFO", f"The graph around {op.name} is in {path}")
