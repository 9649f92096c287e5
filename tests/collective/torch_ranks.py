# SPDX-License-Identifier: Apache-2.0
"""Starting torch programs as ranks, and reading what torch_digits.py prints."""

import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import python_process
from hccl_c import outputs

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
DIGITS = HERE / "torch_digits.py"
NAMES_RANKS = ("RANK", "WORLD_", "LOCAL_", "CM_", "OMPI_", "SLURM_", "ASCEND_DEVICE_ID", "JOB_ID")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def environment(**more):
    """Ours without what names ranks, and where torch's ranks meet."""
    out = {name: value for name, value in os.environ.items() if not name.startswith(NAMES_RANKS)}
    out |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "OMP_NUM_THREADS": "1", "ANYNPU_THREADS": "1"}
    out["PYTHONPATH"] = os.pathsep.join([str(ROOT / "tools"), str(ROOT / "adapters/hccl")])
    return {**out, **more}


def started(commands, environments, folder=None):
    """Runs each command with its environment, side by side; their outputs."""
    processes = [
        python_process.start(
            [str(word) for word in command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=own,
            cwd=folder,
        )
        for command, own in zip(commands, environments, strict=True)
    ]
    results = outputs(processes, seconds=300)
    for number, (code, text) in enumerate(results):
        assert code == 0, f"process {number}: {text[-3000:]}"
    return [text for _, text in results]


def ranks(size, program, *arguments, **more):
    """The program as `size` ranks with the variables that torchrun would set; their outputs."""
    common = environment(**more)
    own = [{**common, "RANK": str(r), "LOCAL_RANK": str(r), "WORLD_SIZE": str(size)} for r in range(size)]
    return started([[sys.executable, HERE / program, *arguments]] * size, own)


def refused(program, reasons):
    """Two ranks of `program` tell why each call of theirs was refused; `reasons` has a part of each text by name."""
    for text in ranks(2, program, "refused"):
        found = dict(re.findall(r"^REFUSED ([^:]*): (.*)$", text, re.M))
        for name, wanted in reasons.items():
            assert wanted in found[name], f"{name}: {found[name]}"


class Worst(NamedTuple):
    """The largest relative differences from one process on the whole batch."""

    loss: float  # parameters put back before each step
    gradient: float
    free: float  # of the loss for each step of a run of its own


def worst(text):
    """{(way, net): [the differences of each rank that wrote into the text]}."""
    out = {}
    for way, net, *numbers in re.findall(r"WORST (\S+) (\S+) loss (\S+) gradient (\S+) free (\S+)", text):
        out.setdefault((way, net), []).append(Worst(*map(float, numbers)))
    return out


def check(found, size):
    """Every rank's loss is within 1e-6, its gradients within what two float32 sums differ by, a run of its own within
    1e-5 a step."""
    assert len(found) == size, found
    for each in found:
        assert each.loss <= 1e-6
        assert each.gradient <= 1e-5
        assert each.free <= 1e-5


def reference(folder):
    path = folder / "reference.pt"
    subprocess.run([sys.executable, DIGITS, "reference", path], check=True, timeout=120)
    return path
