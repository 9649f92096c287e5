# SPDX-License-Identifier: Apache-2.0
"""Copies the next batch on a stream of its own while the network trains, and measures with events."""
import time

import torch
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
        self.stream = torch.cuda.Stream()
        self.preload()

    def preload(self):
        self.batch = next(self.loader, None)
        if self.batch is None:
            return
        with torch.cuda.stream(self.stream):
            self.batch = [t.cuda(non_blocking=True) for t in self.batch]

    def next(self):
        torch.cuda.current_stream().wait_stream(self.stream)
        batch = self.batch
        if batch is not None:
            for t in batch:
                t.record_stream(torch.cuda.current_stream())
        self.preload()
        return batch


class Plain:
    def __init__(self, loader):
        self.loader = iter(loader)

    def next(self):
        return next(self.loader, None)


def synchronized_time():
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()


def run(gpu):
    torch.manual_seed(6)
    loader = DataLoader(Blobs(), batch_size=32, pin_memory=torch.cuda.is_available(), drop_last=True)
    model = nn.Sequential(nn.Linear(16, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, 3))
    if gpu is not None:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(gpu)
        model.cuda(device=gpu)
    optimizer = torch.optim.RMSprop(model.parameters(), lr=0.01)
    start_event = end_event = None
    if gpu is not None:
        start_event, end_event = (torch.cuda.Event(enable_timing=True) for _ in range(2))
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
        print("%.1f MB" % (torch.cuda.max_memory_allocated(gpu) / 1e6))


if torch.cuda.is_available():
    for i in range(torch.cuda.device_count()):
        print(i, torch.cuda.get_device_name(i), torch.cuda.get_device_properties(i).total_memory >> 20, "MiB")
    with torch.cuda.device(0):
        run(torch.cuda.current_device())
else:
    run(None)
