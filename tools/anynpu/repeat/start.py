# SPDX-License-Identifier: Apache-2.0
"""Begins to write digests when torch_npu or npu_device is there. Imported only where ANYNPU_DIGEST names a folder."""

import os
from pathlib import Path

from anynpu.fallback import line
from anynpu.fallback.count import place
from anynpu.fallback.report import rank
from anynpu.library import door
from anynpu.nan_check.watch import node_of_autograd
from anynpu.repeat import WHERE


def begin():
    folder = Path(os.environ["ANYNPU_DIGEST"])
    name = "run.digest" if rank() is None else f"rank{rank()}.digest"
    asked, _, wanted = os.environ.get("ANYNPU_DIGEST_PLACE", "").partition(" ")
    door.digest_start(folder / name, wanted if asked == name else None, lambda kind: write_line(folder / WHERE, kind))


def write_line(path, kind):
    node = node_of_autograd()
    path.write_text(f"{kind} {place({'line': line.current(bool(node)), 'backward': node})}")
