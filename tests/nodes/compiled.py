# SPDX-License-Identifier: Apache-2.0
"""Run by test_nodes.py with NPU_DUMP_GRAPH, in a process of its own: runs the tests that it is given and prints, as
JSON in its last line, which kinds of node the engine compiled for each of them: what is left in the last stage of its
functions, what was folded to a constant there, and calls that were inlined; not what the client ran, nor dead nodes."""

import json
import os
import pathlib
import re
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
NODE = re.compile(r'^  name: "([^"]*)"\n  op: "(\w+)"(?:\n  input: "([^"]*)")?', re.MULTILINE)


def source(name, nodes):
    """The operator whose value a node has: of one that only hands it on, that of its input."""
    op, first = nodes[name]
    return source(first, nodes) if op == "Identity" and first in nodes else op


def kinds_of(stages):
    """Of (stage, file) in the order in which they were written for one function."""
    found, earlier, before = set(), {}, set()
    for stage, path in stages:
        nodes = {name: rest for name, *rest in NODE.findall(path.read_text(encoding="utf-8"))}
        kinds = {op for op, _ in nodes.values()}
        if stage == "PreRunBegin":
            earlier = {}
        if stage == "inline":
            found |= before - kinds
        if stage == "Build":
            found |= kinds | {source(name, earlier) for name in nodes if name in earlier}
        earlier |= nodes
        before = kinds
    return found


class Compiled:
    """A plug-in of pytest that reads what is dumped during each test."""

    def __init__(self, folder):
        self.folder, self.read, self.hosted, self.kinds = pathlib.Path(folder), set(), set(), {}

    def pytest_collection_finish(self):
        if "engine" not in sys.modules:
            return  # the adapter's, whose kinds have no kernel on the host
        client = sys.modules["engine"]

        def noted(op, *others, run=client.run_on_host):
            results = run(op, *others)  # an assertion that does not hold asks it for the error
            self.hosted.add(op)
            return results

        client.run_on_host = noted

    def pytest_runtest_teardown(self, item):
        dumped = set(self.folder.glob("*/*.pbtxt"))
        stages = {}
        for path in dumped - self.read:
            function, number, stage, _ = path.name.rsplit(".", 3)
            stages.setdefault(function, []).append((int(number), stage, path))
        found = set().union(*(kinds_of([s[1:] for s in sorted(one)]) for one in stages.values()))
        name = f"{item.path.relative_to(TESTS)}::{item.originalname}"
        self.kinds.setdefault(name, set()).update(found - self.hosted)
        self.read = dumped
        self.hosted.clear()


def main():
    plugin = Compiled(os.environ["DUMP_GRAPH_PATH"])
    status = pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[1:]], plugins=[plugin])
    print(json.dumps({test: sorted(kinds) for test, kinds in plugin.kinds.items()}))
    sys.exit(status)


if __name__ == "__main__":
    main()
