# SPDX-License-Identifier: Apache-2.0
"""PyTorch between two hosts, through the vendor's plug-in: training equals that of one process, and what
torch.distributed offers gives what gloo gives."""

import json
import re
import sys
from pathlib import Path

import numpy
import pytest
import torch
import torch_ranks
from cluster import HERE
from hccl_c import outputs
from placed import COLLECTIVE, as_torchrun

LAYOUT = (2, 2)
SECONDS = 400
QUIET = {"ANYNPU_THREADS": "1", "OMP_NUM_THREADS": "1"}


def ended_well(processes):
    results = outputs(processes, seconds=SECONDS)
    for number, (code, text) in enumerate(results):
        assert code == 0, f"process {number}: {text[-3000:]}"
    return [text for _, text in results]


def torchrun(two, *arguments):
    """As users start it: one torchrun on each host. The outputs, of all ranks of a host in one."""
    program = Path(sys.executable).with_name("torchrun")
    words = [program, "--nnodes", len(LAYOUT), "--nproc-per-node", LAYOUT[0], "--master-addr", two[0].address]
    words += ["--master-port", 29500, "--node-rank"]
    return ended_well([host.start(*words, host.number, *arguments, environment=QUIET) for host in two])


def ranks(two, program, *arguments, **environment):
    return ended_well(
        [
            place.start(program, *arguments, environment={**own, **environment})
            for place, own in as_torchrun(two, LAYOUT)
        ]
    )


@pytest.mark.promise("DDP, FSDP and `fully_shard` on 2 hosts with 2 ranks each equal one process on the joined batch")
def test_training_equals_the_joined_batch(hosts, tmp_path):
    path = torch_ranks.reference(tmp_path)
    text = "".join(torchrun(hosts(2), COLLECTIVE / "torch_digits.py", path, "ddp", "fsdp", "fully_shard"))
    found = torch_ranks.worst(text)
    assert found.keys() == {("ddp", "cnn"), *((way, net) for way in ("fsdp", "fully_shard") for net in ("cnn", "mlp"))}
    for each in found.values():
        torch_ranks.check(each, sum(LAYOUT))


@pytest.mark.promise("DTensor, pipelines and FSDP in two dimensions on 2 hosts with 2 ranks each equal one process")
@pytest.mark.parametrize("way", ["tensor", "pipeline", "fsdp_2d"])
def test_nets_in_parts_equal_the_whole(way, hosts):
    """float32 sums of two orders over 4 steps."""
    for text in ranks(hosts(2), HERE / "torch_parallel.py", way):
        loss, gradient, count = re.search(r"WORST loss (\S+) gradient (\S+) of (\d+)", text).groups()
        assert float(loss) < 1e-5 and float(gradient) < 1e-5 and int(count) in (2, 8), text


def features(text):
    return json.loads(re.search(r"^RESULT (.*)$", text, re.M)[1])


def test_features_give_what_gloo_gives(hosts):
    """Both between hosts. float32 sums of two orders differ by a few last bits, which training carries on."""
    two = hosts(2)
    npu = [features(text) for text in ranks(two, COLLECTIVE / "torch_features.py", "hccl")]
    cpu = ranks(two, COLLECTIVE / "torch_features.py", "gloo", TORCH_DEVICE_BACKEND_AUTOLOAD="0", MASTER_PORT="29501")
    for found, wanted in zip(npu, map(features, cpu), strict=True):
        assert found.keys() == wanted.keys()
        for name, numbers in wanted.items():
            numpy.testing.assert_allclose(found[name], numbers, rtol=2e-5, atol=1e-6, err_msg=name)


def survivors(two, folder, kills):
    """The weights at the end under torchrun's elastic launcher, and how often a rank was killed."""
    folder.mkdir()
    program = Path(sys.executable).with_name("torchrun")
    words = [program, "--nnodes", len(LAYOUT), "--nproc-per-node", LAYOUT[0], "--max-restarts", 20 * kills]
    words += ["--rdzv-backend", "c10d", "--rdzv-endpoint", f"{two[0].address}:29400", "--rdzv-id", folder.name]
    words += [COLLECTIVE / "torch_survivor.py", folder, kills]
    ended_well([host.start(*words, environment=QUIET) for host in two])
    return torch.load(folder / "weights.pt"), len(list(folder.glob("kill*")))


@pytest.mark.promise("a run on 2 hosts that torchrun starts again after a kill ends with the undisturbed weights")
def test_an_elastic_run_goes_on_after_a_kill(hosts, tmp_path):
    two = hosts(2)
    wanted, _ = survivors(two, tmp_path / "undisturbed", 0)
    found, killed = survivors(two, tmp_path / "killed", 1)
    assert killed == 1
    for name, value in wanted.items():
        assert torch.equal(found[name], value), f"{name}: {(found[name] - value).abs().max()} apart"
