# SPDX-License-Identifier: Apache-2.0
"""When a rank is killed, no other gets a result that the dead one has no part in, whichever way it reads."""

import random
import subprocess
import sys

import pytest
import torch
import torch_ranks
from hccl_c import outputs, start
from survivor import WAYS

pytestmark = pytest.mark.alone

SIZE = 3


@pytest.mark.parametrize("number", range(24))
def test_nothing_unreduced_leaves_the_device(number, tmp_path):
    way, seconds = WAYS[number % len(WAYS)], random.Random(number).uniform(0.001, 0.4)
    results = outputs(start("survivor.py", tmp_path, SIZE, way, seconds), seconds=90)
    for rank, (code, text) in enumerate(results[: SIZE - 1]):
        assert code == 0, f"rank {rank}: {text[-2000:]}"
        assert "HEARD in step" in text and f"rank {SIZE - 1} (host " in text, text[-2000:]
        assert "NOTHING OUT" in text and "WRONG" not in text, text[-2000:]


def weights(folder, kills):
    """Of a run under torchrun, and how often a process of it was killed. torch 2.13's agent keeps the keys of its store
    over restarts: a rank that asks before rank 0 has written is given the root info of the life before, and fails; so
    there are more restarts than kills."""
    folder.mkdir()
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", f"--max-restarts={5 * kills}"]
    command += [f"--master-port={torch_ranks.free_port()}", torch_ranks.HERE / "torch_survivor.py", folder, str(kills)]
    done = subprocess.run(command, env=torch_ranks.environment(), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return torch.load(folder / "weights.pt"), len(list(folder.glob("kill*")))


def test_a_run_that_is_started_again_ends_with_the_undisturbed_weights(tmp_path):
    wanted, _ = weights(tmp_path / "undisturbed", 0)
    found, killed = weights(tmp_path / "killed", 2)
    assert killed == 2
    for name, value in wanted.items():
        assert torch.equal(found[name], value), f"{name}: {(found[name] - value).abs().max()} apart"
