# SPDX-License-Identifier: Apache-2.0
"""Runs tests of torch's own distributed_test.py on back end hccl; started by torch_own.py.

torch_own_ranks.py AT_ONCE reads a JSON list of [test, ranks] and prints a JSON line for each as it ends; an empty list
asks for the names of all. torch is imported once: each test is a forked process, the leader of a session, which forks
its ranks as torch's MultiProcessTestCase spawns them. All that a test started is killed when it ends or hangs.
docs/torch_distributed.md says what is adapted.
"""

import ast
import contextlib
import ctypes
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
import types
import unittest

WORDS = {
    "nccl": "hccl",
    "NCCL": "HCCL",
    "ProcessGroupNCCL": "ProcessGroupHCCL",
    "is_nccl_available": "is_hccl_available",
    "cuda": "npu",
    "is_cuda": "is_npu",
    "torch.cuda.amp": "torch.npu.amp",
    "TORCH_NCCL_BLOCKING_WAIT": "TORCH_HCCL_BLOCKING_WAIT",
}
SMALLER = {"test_ddp_uneven_inputs": 50}  # the first line, dim = 1000, makes 200 TFLOP of convolutions
HELPERS = "torch.testing._internal.common_distributed"
TESTS = "torch.testing._internal.distributed.distributed_test"
SECONDS = 120  # for one test


class Port(ast.NodeTransformer):
    """WORDS in attributes, in imports, and where they are a whole string or the type of a device."""

    def visit_Attribute(self, node):
        node.attr = WORDS.get(node.attr, node.attr)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node):
        if node.name in SMALLER:
            node.body[0].value.value = SMALLER[node.name]
        return self.generic_visit(node)

    def visit_ImportFrom(self, node):
        node.module = WORDS.get(node.module, node.module)
        return node

    def visit_Constant(self, node):
        if isinstance(node.value, str):
            value = re.sub(r"^cuda:", "npu:", WORDS.get(node.value, node.value))
            return ast.copy_location(ast.Constant(value), node)
        return node


def compiled(name):
    """A module's name and its ported text."""
    origin = importlib.util.find_spec(name).origin
    with open(origin, encoding="utf-8") as source:
        return name, compile(Port().visit(ast.parse(source.read())), origin, "exec")


def load(name, code):
    module = types.ModuleType(name)
    module.__file__ = code.co_filename
    sys.modules[name] = module
    exec(code, module.__dict__)
    return module


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def suite(tests, helpers):
    """A class like that of torch's test_distributed_spawn.py, which the wheel does not ship."""

    class Suite(tests.TestDistBackend, tests.DistributedTest._DistTestBase):
        def setUp(self):
            super().setUp()
            self._start_processes(helpers.torch.multiprocessing.get_context("fork").Process)

        @classmethod
        def _run(cls, rank, *arguments, **options):
            die_with_parent()
            helpers.torch.npu.set_device(rank)
            super()._run(rank, *arguments, **options)

    return Suite


def outcome(result, log):
    if result.skipped:
        told = re.findall(r"for following reason: (.*)", log)  # a rank's own reason; the exit code names a kind
        return {"result": "skipped", "reason": told[0] if told else result.skipped[0][1]}
    problems = result.failures + result.errors
    return {"result": "failed", "reason": problems[0][1]} if problems else {"result": "passed", "reason": ""}


def prepare(helpers, tests, test, ranks):
    os.environ["WORLD_SIZE"] = str(ranks)
    sys.modules[TESTS] = tests  # pickles name it
    helpers.TEST_CUDA = True
    if not re.search("profil|trace", test):
        for backends in (tests.PROFILING_SUPPORTED_BACKENDS, tests.SEND_RECV_PROFILING_SUPPORTED_BACKENDS):
            backends.remove("hccl")


def lead(helpers, tests, test, ranks, folder):
    """The process of one test, up to its end."""
    die_with_parent()
    os.setsid()
    os.environ["TMPDIR"] = tempfile.tempdir = folder
    log = os.open(f"{folder}/log", os.O_RDWR | os.O_APPEND | os.O_CREAT)
    os.dup2(log, 1)
    os.dup2(log, 2)
    record = {"result": "failed"}
    try:
        prepare(helpers, tests, test, ranks)
        kind = suite(tests, helpers)
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
    def __init__(self, helpers, tests, test, ranks):
        self.test, self.ranks, self.start = test, ranks, time.time()
        self.folder = tempfile.mkdtemp(prefix="torch_own_")
        self.process = os.fork()
        if self.process == 0:
            lead(helpers, tests, test, ranks, self.folder)

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
        record |= {"test": self.test, "ranks": self.ranks, "seconds": round(time.time() - self.start, 1)}
        record["log"] = self.read("log")[-20000:]
        shutil.rmtree(self.folder, ignore_errors=True)
        print(json.dumps(record), flush=True)


def load_for(code, ranks):
    """The tests; what their decorators skip depends on WORLD_SIZE when the classes are made."""
    os.environ["WORLD_SIZE"] = str(ranks)
    return load(*code)


def main():
    die_with_parent()
    at_once, asked = int(sys.argv[1]), json.load(sys.stdin)
    os.environ |= {"BACKEND": "hccl", "WORLD_SIZE": "2"}
    import torch_npu

    helpers = load(*compiled(HELPERS))
    helpers.torch.distributed.ProcessGroupHCCL = torch_npu._C._distributed_c10d.ProcessGroupHCCL
    helpers.TIMEOUT_OVERRIDE.clear()
    helpers.TIMEOUT_DEFAULT = SECONDS
    code = compiled(TESTS)
    if not asked:
        all_tests = load_for(code, 2).DistributedTest._DistTestBase
        print(json.dumps([name for name in dir(all_tests) if name.startswith("test_")]))
    tests = {ranks: load_for(code, ranks) for ranks in {ranks for _, ranks in asked}}
    running = []
    while asked or running:
        while asked and len(running) < at_once:
            test, ranks = asked.pop(0)
            running.append(Running(helpers, tests[ranks], test, ranks))
        time.sleep(0.02)
        ended = [each for each in running if each.ended()]
        running = [each for each in running if each not in ended]
        for each in ended:
            each.finish()


if __name__ == "__main__":
    main()
