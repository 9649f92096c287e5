# SPDX-License-Identifier: Apache-2.0
"""Records what the graph engine computes in the tests of this folder, bit by bit: a change that must not change results
is compared with what was before it, by `python tests/conformance/record_bits.py --compare A B`.

python tests/nodes/record_bits.py OUT     a line for each test, with the hash of all that its runs gave or refused
"""

import hashlib
import pathlib
import sys
import threading

import pytest

HERE = pathlib.Path(__file__).resolve().parent
UNSEEDED = ("test_memory_stays_flat", "test_unseeded_numbers_differ")  # draw other numbers in each process


class Recorder:
    """A plug-in of pytest that stands between the tests and the engine."""

    def __init__(self):
        self.lines, self.digest = [], None

    def pytest_collection_finish(self):
        import engine  # once conftest.py has made the environment

        for name in ("run", "run_node"):
            setattr(engine.Engine, name, self._watched(engine, getattr(engine.Engine, name)))

    def _watched(self, engine, run):
        def watched(itself, what, inputs, output_count):
            if threading.current_thread() is not threading.main_thread():
                return run(itself, what, inputs, output_count)  # comes when it comes
            try:
                outputs = run(itself, what, inputs, output_count)
            except engine.EngineError as error:
                self.digest.update(f"{error}\n".encode())
                raise
            for value in [*outputs, *(v for v in inputs if v.view().kind == engine.VARIABLE)]:
                self._add(engine, value)
            return outputs

        return watched

    def _add(self, engine, value):
        view = value.view()
        if view.kind == engine.VARIABLE and view.dtype not in engine.NUMPY:
            return  # nothing assigned, or an object
        if view.kind in (engine.TENSOR, engine.VARIABLE):
            array = value.numpy() if view.kind == engine.TENSOR else value.read()
            self.digest.update(f"{array.dtype} {array.shape}\n".encode() + array.tobytes())

    def pytest_runtest_setup(self, item):
        self.digest = hashlib.blake2b(digest_size=10)

    def pytest_runtest_teardown(self, item):
        if item.name not in UNSEEDED:
            self.lines.append(f"{item.nodeid} {self.digest.hexdigest()}")


def main():
    recorder = Recorder()
    status = pytest.main(["-q", "-p", "no:cacheprovider", str(HERE)], plugins=[recorder])
    pathlib.Path(sys.argv[1]).write_text("\n".join(recorder.lines) + "\n", encoding="utf-8")
    sys.exit(status)


if __name__ == "__main__":
    main()
