# SPDX-License-Identifier: Apache-2.0
"""acl in one process with the frameworks: one device, one memory."""

import importlib.util

import pytest

TORCH = """
import numpy as np, sys
order = sys.argv[1]
if order == "acl":
    import acl
import torch, torch_npu
import acl
x = torch.arange(6, dtype=torch.float32).npu() * 2
host = np.zeros(6, np.float32)
torch.npu.synchronize()
assert acl.rt.memcpy(acl.util.numpy_to_ptr(host), host.nbytes, x.data_ptr(), host.nbytes, 2) == 0
assert host.tolist() == [0, 2, 4, 6, 8, 10]
context, ret = acl.rt.get_context()
assert ret == 0 and context != 0
stream = torch.npu.current_stream().npu_stream
assert acl.rt.synchronize_stream(stream) == 0
libraries = {line.split()[-1] for line in open("/proc/self/maps") if line.rstrip().endswith("/libanynpu.so")}
assert len(libraries) == 1, libraries
print("shared")
"""

TENSORFLOW = """
import acl
import npu_device
import tensorflow as tf
npu_device.open().as_default()
assert acl.rt.set_device(0) == 0
pointer, ret = acl.rt.malloc(64, 0)
assert ret == 0 and acl.rt.free(pointer) == 0
assert float(tf.reduce_sum(tf.ones([3, 4]))) == 12
print("shared")
"""


def need(*packages):
    for package in packages:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed here")


@pytest.mark.parametrize("first", ["acl", "torch"])
def test_memory_of_torch(script, first):
    need("torch", "torch_npu")
    done = script(TORCH, first)
    assert done.returncode == 0 and done.stdout.strip().endswith("shared"), done.stderr


def test_tensorflow_in_one_process(script):
    need("tensorflow", "npu_device")
    done = script(TENSORFLOW)
    assert done.returncode == 0 and done.stdout.strip().endswith("shared"), done.stderr
