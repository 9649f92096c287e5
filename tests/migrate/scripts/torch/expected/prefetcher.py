# SPDX-License-Identifier: Apache-2.0
"""Copies the next batch on a stream of its own while the network trains, and measures with events."""
import time

import torch
import torch_npu
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Blobs(Dataset):
    def __init__(self, count=96, width=16, classes=3):
        generator = torch.Generator().manual_seed(6)
        self.labels = torch.randint(0, classes, (count,), generator=generator)
        self.points = torch.randn(count, width, generator=generator) + self.labels[:, None]

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.points[i], self.labels[i]


class Prefetcher:
    def __init__(self, loader):
        self.loader = iter(loader)
        self.stream = torch.npu.Stream()
        self.preload()

    def preload(self):
        self.batch = next(self.loader, None)
        if self.batch is None:
            return
        with torch.npu.stream(self.stream):
            self.batch = [t.npu(non_blocking=True) for t in self.batch]

    def next(self):
        torch.npu.current_stream().wait_stream(self.stream)
        batch = self.batch
        if batch is not None:
            for t in batch:
                t.record_stream(torch.npu.current_stream())
        self.preload()
        return batch


class Plain:
    def __init__(self, loader):
        self.loader = iter(loader)

    def next(self):
        return next(self.loader, None)


def synchronized_time():
    if torch.npu.is_available():
        torch.npu.synchronize()
    return time.perf_counter()


def run(gpu):
    torch.manual_seed(6)
    loader = DataLoader(Blobs(), batch_size=32, pin_memory=torch.npu.is_available(), drop_last=True)
    model = nn.Sequential(nn.Linear(16, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, 3))
    if gpu is not None:
        torch.npu.empty_cache()
        torch.npu.reset_peak_memory_stats(gpu)
        model.npu(device=gpu)
    optimizer = torch.optim.RMSprop(model.parameters(), lr=0.01)
    start_event = end_event = None
    if gpu is not None:
        start_event, end_event = (torch.npu.Event(enable_timing=True) for _ in range(2))
        start_event.record()

    prefetcher = Prefetcher(loader) if gpu is not None else Plain(loader)
    start, step = synchronized_time(), 0
    batch = prefetcher.next()
    while batch is not None:
        step += 1
        loss = nn.functional.cross_entropy(model(batch[0]), batch[1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("step %d loss %.8g" % (step, loss))
        batch = prefetcher.next()
    print("%.3f s" % (synchronized_time() - start))
    if gpu is not None:
        end_event.record()
        end_event.synchronize()
        print("%.3f ms between events" % start_event.elapsed_time(end_event))
        print("%.1f MB" % (torch.npu.max_memory_allocated(gpu) / 1e6))


if torch.npu.is_available():
    for i in range(torch.npu.device_count()):
        print(i, torch.npu.get_device_name(i), torch.npu.get_device_properties(i).total_memory >> 20, "MiB")
    with torch.npu.device(0):
        run(torch.npu.current_device())
else:
    run(None)
