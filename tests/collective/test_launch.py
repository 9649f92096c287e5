# SPDX-License-Identifier: Apache-2.0
"""anynpu launch with ranks that hear of each other's faults."""

import os
import subprocess
import sys
from pathlib import Path

import torch_ranks

HERE = Path(__file__).parent
SCRIPT = """
import os, sys, time
from fault import Rank
rank = int(os.environ["RANK"])
me = Rank(sys.argv[1], 3, rank)
if rank == 1:
    me.library.HcclCommDestroy(me.comm)
    time.sleep(1)  # the others hear of it, and end first
    raise RuntimeError("the reason")
me.all_reduce()
me.wait()
"""


def test_the_rank_that_began_is_named(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    environment = torch_ranks.environment()
    environment["PYTHONPATH"] += os.pathsep + str(HERE)
    command = [sys.executable, "-m", "anynpu", "launch", "-n", "3", "--log-dir", str(tmp_path / "logs")]
    done = subprocess.run(
        [*command, str(tmp_path / "script.py"), str(tmp_path / "root")],
        env=environment, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1 and "rank 1 has failed: exit code 1" in done.stderr, done.stderr
    assert done.stderr.rstrip().endswith("RuntimeError: the reason")
