# SPDX-License-Identifier: Apache-2.0
"""torch.distributed through the vendor's plug-in, which none of us wrote."""

import functools
import json
import re
import subprocess
import sys

import numpy
import pytest
import torch_ranks


def features(text):
    return json.loads(re.search(r"^RESULT (.*)$", text, re.M)[1])


@pytest.mark.promise("FSDP, ZeRO, object collectives, sub-groups, messages give what gloo gives")
def test_features_give_what_gloo_gives():
    """The same program on both. float32 sums of two orders differ by a few last bits, which training carries on."""
    size = 3
    npu = [features(text) for text in torch_ranks.ranks(size, "torch_features.py", "hccl")]
    without = {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    cpu = [features(text) for text in torch_ranks.ranks(size, "torch_features.py", "gloo", **without)]
    for rank in range(size):
        assert npu[rank].keys() == cpu[rank].keys()
        for name, wanted in cpu[rank].items():
            numpy.testing.assert_allclose(npu[rank][name], wanted, rtol=2e-5, atol=1e-6, err_msg=f"{name}, rank {rank}")


REFUSED = """
import os, time, torch, torch.distributed as dist
torch.npu.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("hccl")
try:
    dist.all_reduce(torch.ones(4).npu())
except RuntimeError as error:
    print(f"REFUSED {error}", flush=True)
    time.sleep(5)  # rank 0 has the store by which the others meet
"""


def test_a_refused_communicator_tells_why_in_the_exception(tmp_path):
    script = tmp_path / "refused.py"
    script.write_text(REFUSED, encoding="utf-8")
    for text in torch_ranks.ranks(2, script, HCCL_ALGO="level0:tree"):
        assert "EI0001: HCCL_ALGO is 'level0:tree': 'level0:tree' names no algorithm" in text.split("REFUSED ")[1]


WRITTEN_FOR_CUDA = """
import os, torch, torch.distributed as dist
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
x = torch.full((2,), float(dist.get_rank()), device="cuda")
dist.broadcast(x, 1)
print("BROADCAST", x.device.type, x.tolist(), flush=True)
dist.destroy_process_group()
"""


@pytest.mark.promise("a script for CUDA broadcasts between NPUs by anynpu launch, as it is")
def test_a_script_for_cuda_broadcasts(tmp_path):
    script = tmp_path / "broadcast.py"
    script.write_text(WRITTEN_FOR_CUDA, encoding="utf-8")
    command = [sys.executable, "-m", "anynpu", "launch", "-n", "2", "--log-dir", str(tmp_path / "logs"), str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    shown = done.stdout + done.stderr  # rank 0's, which had another value
    assert done.returncode == 0 and "BROADCAST npu [1.0, 1.0]" in shown, shown


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """What `size` ranks print; all ways of training share their processes."""
    path = torch_ranks.reference(tmp_path_factory.mktemp("digits"))
    arguments = ("torch_digits.py", path, "ddp", "fsdp", "fully_shard")
    return functools.cache(lambda size: torch_ranks.worst("".join(torch_ranks.ranks(size, *arguments))))


@pytest.mark.promise("DDP, FSDP and `fully_shard` on 1, 2 and 4 ranks equal one process on the joined batch")
@pytest.mark.parametrize(
    ("way", "net"), [("ddp", "cnn"), ("fsdp", "cnn"), ("fsdp", "mlp"), ("fully_shard", "cnn"), ("fully_shard", "mlp")]
)
@pytest.mark.parametrize("size", [1, 2, 4])
def test_training_equals_the_joined_batch(size, way, net, digits):
    found = digits(size)[way, net]
    print(f"{way} of the {net} on {size} ranks: {max(found)}")
    torch_ranks.check(found, size)
