# SPDX-License-Identifier: Apache-2.0
"""Ordinary data-parallel GPU training code: the CNN of digits_cuda.py on several GPUs, each with its share of every
batch. Nothing in it knows of an NPU. Without a launcher it trains in one process, on the same batches.

torchrun --nproc-per-node 2 digits_ddp_cuda.py --epochs 5 --json result.json
"""

import argparse
import json
import os
import time

import torch
import torch.distributed as dist
from digits_cuda import Net, accuracy, data
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader


def batches(dataset, size, epoch, rank, ranks):
    """The same batches for any number of ranks: rank r has the r-th part of each."""
    order = torch.randperm(len(dataset), generator=torch.Generator().manual_seed(epoch))
    images, labels = dataset.tensors
    for start in range(0, len(dataset) - size + 1, size):
        part = order[start + rank * size // ranks : start + (rank + 1) * size // ranks]
        yield images[part], labels[part]


def mean_over_ranks(value, ranks):
    if ranks > 1:
        dist.all_reduce(value)
    return (value / ranks).item()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--json", help="write the results here")
    options = parser.parse_args()
    rank, ranks = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    device = torch.device("cpu")
    if torch.cuda.is_available():
        device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)))
        torch.cuda.set_device(device)
    torch.manual_seed(0)
    model = Net(dropout=0.0).to(device)
    if ranks > 1:
        dist.init_process_group("nccl")
        model = DistributedDataParallel(nn.SyncBatchNorm.convert_sync_batchnorm(model), device_ids=[device.index])
    optimizer = torch.optim.SGD(model.parameters(), lr=options.lr, momentum=0.9)
    train, test = data(0)
    losses, epochs = [], []
    for epoch in range(options.epochs):
        start = time.perf_counter()
        for x, y in batches(train, options.batch_size, epoch, rank, ranks):
            loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(mean_over_ranks(loss.detach().clone(), ranks))
        right = accuracy(model, DataLoader(test, batch_size=256), device)
        epochs.append({"loss": losses[-1], "accuracy": right, "seconds": time.perf_counter() - start})
        if rank == 0:
            print(f"epoch {epoch + 1:2d}/{options.epochs}  loss {losses[-1]:.4f}  accuracy {right:.2%}", flush=True)
    if options.json and rank == 0:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"device": device.type, "ranks": ranks, "losses": losses, "epochs": epochs}, file)
    if ranks > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
