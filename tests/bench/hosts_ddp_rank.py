# SPDX-License-Identifier: Apache-2.0
"""One rank of hosts_bench.py that trains an encoder under DistributedDataParallel: hosts_ddp_rank.py FOLDER SIZE RANK
hccl|gloo LOCAL_RANK. Waits for questions as gloo_rank.py; a call is a step."""

import os
import sys
import time

FOLDER, SIZE, RANK, BACKEND, LOCAL = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], int(sys.argv[5])
os.sched_setaffinity(0, {RANK % os.cpu_count()})
os.environ.update(OMP_NUM_THREADS="1", ANYNPU_THREADS="1")
if BACKEND == "gloo":
    os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"

import torch  # noqa: E402 - it reads the variables above
import torch.distributed as dist  # noqa: E402
from torch import nn  # noqa: E402

WIDTH, WORDS, LENGTH, BATCH = 256, 1000, 64, 4


def encoder():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, dropout=0.0, batch_first=True)
    stack = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    return nn.Sequential(nn.Embedding(WORDS, WIDTH), stack, nn.Linear(WIDTH, WORDS))


def main():
    torch.set_num_threads(1)
    device = torch.device("cpu")
    if BACKEND == "hccl":
        import torch_npu  # noqa: F401

        torch.npu.set_device(LOCAL)
        device = torch.device("npu", LOCAL)
    dist.init_process_group(BACKEND, init_method=f"file://{FOLDER}/ddp.{BACKEND}.store", rank=RANK, world_size=SIZE)
    ids = [LOCAL] if BACKEND == "hccl" else None
    net = nn.parallel.DistributedDataParallel(encoder().to(device), device_ids=ids)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    words = torch.randint(WORDS, (BATCH, LENGTH), generator=torch.Generator().manual_seed(RANK)).to(device)

    def step():
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(words).flatten(0, 1), words.flatten()).backward()
        optimizer.step()

    def finish():
        if BACKEND == "hccl":
            torch.npu.synchronize()
        dist.barrier()

    with open(f"{FOLDER}/ddp_{BACKEND}.{RANK}") as questions:
        for question in questions:
            calls = int(question.split()[2])
            step()
            finish()
            start = time.perf_counter()
            for _ in range(calls):
                step()
            finish()
            took = time.perf_counter() - start
            os.write(1, f"{RANK} {took:.9f}\n".encode())  # in one piece: all ranks write to this pipe


main()
