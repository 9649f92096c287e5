# SPDX-License-Identifier: Apache-2.0
"""Two ranks with half of the batch each train as one process with all of it."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import network
import pytest
import torch
import torch.nn.functional as F
from apex import amp

HERE = Path(__file__).parent


def started(folder, *arguments):
    """Outputs of two ranks."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    places = os.pathsep.join([str(HERE), str(HERE.parents[1] / "adapters/apex"), str(HERE.parents[1] / "tools")])
    env = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": "2", "PYTHONPATH": places}
    processes = [
        subprocess.Popen(
            [sys.executable, HERE / "rank.py", *arguments],
            env={**env, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(2)
    ]
    outputs = [process.communicate(timeout=240)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    return outputs


def alone(level, training):
    model = network.made(network.Residual)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level=level, loss_scale=128.0, verbosity=0)
    model.train(training)
    inputs, labels = network.batch(network.Residual)
    for _ in range(3):
        optimizer.zero_grad()
        with amp.scale_loss(F.cross_entropy(model(inputs), labels), optimizer) as scaled:
            scaled.backward()
        optimizer.step()
    return torch.cat([p.detach().float().flatten() for p in amp.master_params(optimizer)]).cpu()


WAYS = ["combine_ddp-O1", "combine_ddp-O2", "ddp-O2", "options-O1", "reducer-O1", "syncbn-O1"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """(folder of the weights, outputs of the ranks) after all ways in one start."""
    folder = tmp_path_factory.mktemp("ranks")
    return folder, started(folder, *WAYS)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.promise("apex trains on several ranks: combine_ddp, DistributedDataParallel, SyncBatchNorm, Reducer")
def test_two_ranks_are_one(way, trained):
    name, level = way.split("-")
    found, right = torch.load(trained[0] / f"{way}.pt"), alone(level, name == "syncbn")
    # Ranks sum half gradients in another order than one process.
    assert (found - right).abs().max() <= 4 * 2**-11 * right.abs().max()


def test_ranks_that_learn_different_weights_are_refused(trained):
    for output in trained[1]:
        assert "refused: combine_ddp: the ranks have gradients of different parameters" in output
