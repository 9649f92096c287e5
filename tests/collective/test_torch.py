# SPDX-License-Identifier: Apache-2.0
"""torch.distributed through the vendor's plug-in, which none of us wrote."""

import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import numpy
import pytest
from hccl_c import outputs

HERE = Path(__file__).parent


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def ranks(size, *arguments, **environment):
    """The program as `size` ranks, as torchrun would start it; their outputs."""
    common = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": str(size)}
    common |= {"OMP_NUM_THREADS": "1", "ANYNPU_THREADS": "1", **environment}
    processes = [
        subprocess.Popen(
            [sys.executable, HERE / arguments[0], *map(str, arguments[1:])],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**common, "RANK": str(rank), "LOCAL_RANK": str(rank)},
        )
        for rank in range(size)
    ]
    results = outputs(processes, seconds=300)
    for rank, (code, text) in enumerate(results):
        assert code == 0, f"rank {rank}: {text[-3000:]}"
    return [text for _, text in results]


def features(text):
    return json.loads(re.search(r"^RESULT (.*)$", text, re.M)[1])


def test_features_give_what_gloo_gives():
    """The same program on both. float32 sums of two orders differ by a few last bits, which training carries on."""
    size = 3
    npu = [features(text) for text in ranks(size, "torch_features.py", "hccl")]
    cpu = [features(text) for text in ranks(size, "torch_features.py", "gloo", TORCH_DEVICE_BACKEND_AUTOLOAD="0")]
    for rank in range(size):
        assert npu[rank].keys() == cpu[rank].keys()
        for name, wanted in cpu[rank].items():
            numpy.testing.assert_allclose(npu[rank][name], wanted, rtol=2e-5, atol=1e-6, err_msg=f"{name}, rank {rank}")


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    path = tmp_path_factory.mktemp("digits") / "reference.pt"
    subprocess.run([sys.executable, HERE / "torch_digits.py", "reference", path], check=True, timeout=120)
    return path


@pytest.mark.parametrize("size", [1, 2, 4])
def test_data_parallel_equals_the_joined_batch(size, reference):
    """Loss within 1e-6 of one process on the whole batch; gradients within what two float32 sums differ by."""
    for text in ranks(size, "torch_digits.py", reference):
        loss, gradient = re.search(r"WORST loss (\S+) gradient (\S+)", text).groups()
        print(size, "ranks: loss", loss, "gradient", gradient)
        assert float(loss) <= 1e-6
        assert float(gradient) <= 1e-5
