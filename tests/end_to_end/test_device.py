# SPDX-License-Identifier: Apache-2.0
"""What scripts do with a device besides computing: loaders, files, threads, streams, reproducibility."""

import os
import pathlib
import subprocess
import sys
import threading

import models
import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset


@pytest.mark.promise("DataLoader with pinned memory and workers")
def test_loader_with_pinned_memory_and_workers():
    x, y = torch.randn(64, 5), torch.arange(64)
    loader = DataLoader(TensorDataset(x, y), 8, pin_memory=True, pin_memory_device="npu", num_workers=2)
    seen = 0
    for bx, by in loader:
        assert bx.is_pinned("npu")
        back = bx.to("npu", non_blocking=True)
        torch.testing.assert_close(back.cpu(), x[by])
        seen += len(by)
    assert seen == 64


def test_there_is_one_version_of_the_toolkit():
    """torch-npu reads it from a file and asks the library for it."""
    assert torch.version.cann == torch.npu.utils.get_cann_version("CANN") == "9.1.0"


@pytest.mark.promise("saving, loading, `map_location`")
def test_save_and_load(tmp_path):
    model, _ = models.make("mlp")
    path = tmp_path / "model.pt"
    torch.save(model.npu().state_dict(), path)
    on_cpu = torch.load(path, map_location="cpu")
    on_npu = torch.load(path, map_location="npu:0")
    for name, value in model.state_dict().items():
        assert on_cpu[name].device.type == "cpu"
        assert on_npu[name].device.type == "npu"
        assert torch.equal(on_cpu[name], value.cpu())
        assert torch.equal(on_npu[name].cpu(), value.cpu())


@pytest.mark.promise("8 threads on 8 devices, streams and events")
def test_eight_threads_on_eight_devices():
    assert torch.npu.device_count() == 8
    results, errors = [None] * 8, []

    def work(index):
        try:
            torch.npu.set_device(index)
            a = torch.full((64, 64), float(index + 1), device=f"npu:{index}")
            for _ in range(20):
                a = a @ torch.eye(64, device=a.device) + 1
            results[index] = a.sum().item()
        except Exception as error:  # noqa: BLE001: shown by the assertion below
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert errors == []
    assert results == [64 * 64 * (i + 21) for i in range(8)]


def test_streams_and_events_order_work():
    side, main = torch.npu.Stream(), torch.npu.current_stream()
    a = torch.ones(1000, 1000, device="npu")
    start, end = torch.npu.Event(enable_timing=True), torch.npu.Event(enable_timing=True)
    start.record()
    side.wait_stream(main)
    with torch.npu.stream(side):
        b = a @ a
    main.wait_stream(side)
    end.record()
    torch.npu.synchronize()
    assert b.sum().item() == 1e9
    assert start.elapsed_time(end) > 0


TRAIN = """
import sys, torch, torch_npu
sys.path.insert(0, {folder!r})
import compare, models
for name in ("resnet18", "encoder"):
    model, batches = models.make(name)
    losses, trained = compare.free_losses(model, batches[:4], models.OPTIMIZERS["adam"], "npu")
    total = sum(p.double().cpu().abs().sum().item() for p in trained.parameters())
    print(name, [l.hex() for l in losses], float(total).hex())
"""


SWITCHES = [{"ANYNPU_THREADS": "1"}, {"ANYNPU_THREADS": "4"}, {"TASK_QUEUE_ENABLE": "1"}, {"TASK_QUEUE_ENABLE": "2"}]


@pytest.mark.promise("results with the same bits for any number of threads")
@pytest.mark.parametrize("switches", SWITCHES)
def test_bits_do_not_depend_on_threads_or_queues(switches):
    code = TRAIN.format(folder=str(pathlib.Path(__file__).parent))

    def run(extra):
        env = {**os.environ, **extra}
        return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout

    assert run(switches) == run({"ANYNPU_THREADS": "2"})
