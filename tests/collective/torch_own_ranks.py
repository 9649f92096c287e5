# SPDX-License-Identifier: Apache-2.0
"""Runs tests of torch's own distributed_test.py on back end hccl; started by torch_own.py.

torch_own_ranks.py AT_ONCE reads a JSON list of [test, stands_for, ranks] and prints a JSON line for each as it ends; an
empty list asks for the names of all. torch is imported once: each test is a forked process, the leader of a session,
which forks its ranks as torch's MultiProcessTestCase spawns them. All that a test started is killed when it ends or
hangs, and when this process ends.
docs/torch_distributed.md says what is adapted.
"""

import ast
import contextlib
import ctypes
import functools
import importlib.util
import json
import os
import pathlib
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
import unittest

WORDS = {  # beside the back end for which hccl stands: nccl, or mpi with tensors made on the device
    "NCCL": "HCCL",
    "ProcessGroupNCCL": "ProcessGroupHCCL",
    "is_nccl_available": "is_hccl_available",
    "cuda": "npu",
    "is_cuda": "is_npu",
    "torch.cuda.amp": "torch.npu.amp",
    "TORCH_NCCL_BLOCKING_WAIT": "TORCH_HCCL_BLOCKING_WAIT",
}
SMALLER = {"test_ddp_uneven_inputs": 30}  # the first line, dim = 1000, makes 200 TFLOP of convolutions
HELPERS = "torch.testing._internal.common_distributed"
TESTS = "torch.testing._internal.distributed.distributed_test"
SECONDS = 120  # for one test


class Port(ast.NodeTransformer):
    """Words in attributes, in imports, and where they are a whole string or the type of a device."""

    def __init__(self, stands_for):
        self.words = {**WORDS, stands_for: "hccl"}

    def visit_Attribute(self, node):
        node.attr = self.words.get(node.attr, node.attr)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node):
        if node.name in SMALLER:
            node.body[0].value.value = SMALLER[node.name]
        return self.generic_visit(node)

    def visit_ImportFrom(self, node):
        node.module = self.words.get(node.module, node.module)
        return node

    def visit_Constant(self, node):
        if isinstance(node.value, str):
            value = re.sub(r"^cuda:", "npu:", self.words.get(node.value, node.value))
            return ast.copy_location(ast.Constant(value), node)
        return node


@functools.cache
def compiled(name, stands_for):
    """A module's spec and its ported text."""
    spec = importlib.util.find_spec(name)
    with open(spec.origin, encoding="utf-8") as source:
        return spec, compile(Port(stands_for).visit(ast.parse(source.read())), spec.origin, "exec")


def load(spec, code):
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    exec(code, module.__dict__)
    return module


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Kit:
    """The tests for that many ranks: what their decorators skip depends on WORLD_SIZE when the classes are made."""

    def __init__(self, stands_for, ranks):
        self.stands_for, self.ranks = stands_for, ranks
        os.environ["WORLD_SIZE"] = str(ranks)
        self.helpers = load(*compiled(HELPERS, stands_for))
        self.helpers.TIMEOUT_OVERRIDE.clear()
        self.helpers.TIMEOUT_DEFAULT = SECONDS
        self.tests = load(*compiled(TESTS, stands_for))
        self.helpers.TEST_CUDA = True

    def prepare(self, test):
        os.environ["WORLD_SIZE"] = str(self.ranks)
        sys.modules |= {TESTS: self.tests, HELPERS: self.helpers}  # pickles name them
        if not re.search("profil|trace", test):
            for backends in (
                self.tests.PROFILING_SUPPORTED_BACKENDS,
                self.tests.SEND_RECV_PROFILING_SUPPORTED_BACKENDS,
            ):
                backends.remove("hccl")

    def suite(self):
        """A class like that of torch's test_distributed_spawn.py, which the wheel does not ship."""
        torch, stands_for = self.helpers.torch, self.stands_for

        class Suite(self.tests.TestDistBackend, self.tests.DistributedTest._DistTestBase):
            def setUp(self):
                super().setUp()
                self._start_processes(torch.multiprocessing.get_context("fork").Process)

            @classmethod
            def _run(cls, rank, *arguments, **options):
                die_with_parent()
                torch.npu.set_device(rank)
                if stands_for == "mpi":
                    torch.set_default_device(f"npu:{rank}")
                super()._run(rank, *arguments, **options)

        return Suite


def outcome(result, log):
    if result.skipped:
        told = re.findall(r"for following reason: (.*)", log)  # a rank's own reason; the exit code names a kind
        return {"result": "skipped", "reason": told[0] if told else result.skipped[0][1]}
    problems = result.failures + result.errors
    return {"result": "failed", "reason": problems[0][1]} if problems else {"result": "passed", "reason": ""}


def lead(kit, test, folder):
    """The process of one test, up to its end."""
    die_with_parent()
    os.setsid()
    os.environ["TMPDIR"] = tempfile.tempdir = folder
    log = os.open(f"{folder}/log", os.O_RDWR | os.O_APPEND | os.O_CREAT)
    os.dup2(log, 1)
    os.dup2(log, 2)
    record = {"result": "failed"}
    try:
        kit.prepare(test)
        kind = kit.suite()
        kind.setUpClass()
        result = unittest.TestResult()
        kind(test).run(result)
        with open(f"{folder}/log", encoding="utf-8", errors="replace") as text:
            record = outcome(result, text.read())
    except BaseException:
        record["reason"] = traceback.format_exc()
    with open(f"{folder}/outcome", "w", encoding="utf-8") as file:
        json.dump(record, file)
    os._exit(0)


class Running:
    def __init__(self, kit, test):
        self.kit, self.test, self.start = kit, test, time.time()
        self.folder = tempfile.mkdtemp(prefix="torch_own_")
        self.process = os.fork()
        if self.process == 0:
            lead(kit, test, self.folder)

    def ended(self):
        late = time.time() - self.start > SECONDS + 20  # torch's own limit comes first, with stacks in the log
        return late or os.waitpid(self.process, os.WNOHANG)[0] != 0

    def read(self, name):
        path = pathlib.Path(self.folder, name)
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def finish(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.process, 0)
        lost = {"result": "failed", "reason": f"the test's process died, or hung for {SECONDS + 20} s"}
        record = json.loads(self.read("outcome") or json.dumps(lost))
        record |= {"test": self.test, "as": self.kit.stands_for, "ranks": self.kit.ranks}
        record["seconds"] = round(time.time() - self.start, 1)
        record["log"] = self.read("log")[-20000:]
        shutil.rmtree(self.folder, ignore_errors=True)
        print(json.dumps(record), flush=True)


def main():
    die_with_parent()
    at_once, asked = int(sys.argv[1]), json.load(sys.stdin)
    os.environ["BACKEND"] = "hccl"
    import torch_npu

    sys.modules["torch"].distributed.ProcessGroupHCCL = torch_npu._C._distributed_c10d.ProcessGroupHCCL
    kits = {key: Kit(*key) for key in dict.fromkeys((stands_for, ranks) for _, stands_for, ranks in asked)}
    if not asked:
        everything = Kit("nccl", 2).tests.DistributedTest._DistTestBase
        print(json.dumps([name for name in dir(everything) if name.startswith("test_")]))
    running = []
    while asked or running:
        while asked and len(running) < at_once:
            test, *key = asked.pop(0)
            running.append(Running(kits[tuple(key)], test))
        time.sleep(0.02)
        ended = [each for each in running if each.ended()]
        running = [each for each in running if each not in ended]
        for each in ended:
            each.finish()


if __name__ == "__main__":
    main()
