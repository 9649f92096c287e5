# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command lines share: runs of the tool that was built, and folders to run it on."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "build/bin/anynpu-migrate"
needs_tool = pytest.mark.skipif(not BUILT.exists(), reason="anynpu-migrate is not built (ninja anynpu-migrate)")

GROWTH = "import tensorflow as tf\ntf.config.experimental.set_memory_growth(g, True)\n"
# A rule of the tests' own, so that they do not depend on what the built-in ones say of PyTorch.
RULE = """rules:
- id: test-rule
  what: lib.old becomes lib.new
  why: for the tests
  call: [lib.old]
  do:
  - callee: lib.new
  examples:
  - before: |
      import lib
      lib.old(1)
    after: |
      import lib
      lib.new(1)
- id: test-unsupported
  what: lib.gone has no like
  why: for the tests
  call: [lib.gone]
  report: unsupported
  message: "=there is no such thing"
"""
OLD, NEW = "import lib\nlib.old(1)\n", "import lib\nlib.new(1)\n"


def start(*arguments, cwd, face="migrate", **options):
    """A run in the background; it minds SIGINT even where whoever started the tests does not."""
    return subprocess.Popen(
        [BUILT, face, *map(str, arguments)],
        cwd=cwd,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


def run(*arguments, cwd, face="migrate", given=b"", **options):
    """(exit code, stdout, stderr)"""
    process = start(*arguments, cwd=cwd, face=face, **options)
    out, err = process.communicate(given, timeout=60)
    return process.returncode, out.decode(errors="replace"), err.decode(errors="replace")


def put(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def tree(folder):
    """{path: bytes, or what a link says}"""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = f"-> {os.readlink(path)}"
        elif path.is_file():
            found[name] = path.read_bytes()
    return found
