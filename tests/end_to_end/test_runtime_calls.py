# SPDX-License-Identifier: Apache-2.0
"""Calls of the runtime that torch-npu passes on: shared memory, limits of cores, use of devices."""

import subprocess
import sys

import pytest
import torch
import torch_npu

SHARING = """
import torch
import torch.multiprocessing as mp

def work(tasks, results):
    tensor = tasks.get()
    tensor.add_(1)
    results.put(tensor.sum().item())

if __name__ == "__main__":
    mp.set_start_method("spawn")
    tasks, results = mp.Queue(), mp.Queue()
    worker = mp.Process(target=work, args=(tasks, results))
    worker.start()
    tensor = torch.ones(4, device="npu")
    tasks.put(tensor[1:])
    print(results.get(timeout=200), tensor.tolist())
    worker.join()
"""


@pytest.mark.promise("a tensor is shared with another process by its key")
def test_a_tensor_is_shared_with_another_process(tmp_path):
    script = tmp_path / "sharing.py"
    script.write_text(SHARING)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=300)
    assert done.stdout.splitlines()[-1] == "6.0 [1.0, 2.0, 2.0, 2.0]", done.stderr


def test_limits_of_cores_are_given_back_and_said_to_limit_nothing():
    program = """
import torch
torch.npu.set_device(0)
torch.npu.set_device_limit(0, 12, 24)
stream = torch.npu.Stream()
torch.npu.set_stream_limit(stream, 4, 8)
print(torch.npu.get_device_limit(0), torch.npu.get_stream_limit(stream), 0 <= torch.npu.utilization(0) <= 100)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=True)
    device, stream = ({"cube_core_num": cube, "vector_core_num": 2 * cube} for cube in (12, 4))
    assert done.stdout.splitlines()[-1] == f"{device} {stream} True"
    assert done.stderr.count("[WARNING] anynpu: limits of cores") == 1


def test_a_view_is_written_after_its_base_became_smaller():
    """The view's block is still allocated; the CPU writes it, too."""
    base = torch.arange(12.0).npu()
    view = base[4:10]
    base.resize_(3)
    view.copy_(torch.ones(6).npu())
    assert view.cpu().tolist() == [1.0] * 6 and base.cpu().tolist() == [0.0, 1.0, 2.0]


def test_host_memory_is_registered_by_flags():
    """As those do who read tables in host memory: mapped, page-locked, or both."""
    runtime = torch_npu.npu.npurt()
    table = torch.empty(1 << 16, dtype=torch.uint8).share_memory_()
    for flag in (0x2, 0x10000000, 0x10000002):
        assert int(runtime.npuHostRegister(table.data_ptr(), table.numel(), flag)) == 0
        assert int(runtime.npuHostUnregister(table.data_ptr())) == 0
    assert int(runtime.npuHostRegister(table.data_ptr(), table.numel(), 0x4)) == 207000
