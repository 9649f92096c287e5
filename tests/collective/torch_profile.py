# SPDX-License-Identifier: Apache-2.0
"""A rank that trains a little under torch_npu's profiler, into the folder of the first argument; rank 1 is late."""

import os
import sys
import time

import torch
import torch.distributed as dist
from torch_npu import profiler

rank = int(os.environ["RANK"])
torch.npu.set_device(rank)
dist.init_process_group("hccl")
torch.manual_seed(0)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 64).npu(), device_ids=[rank])
x = torch.randn(8, 64).npu()


def meet(name):
    """Without a collective, which the profile would show."""
    store = dist.distributed_c10d._get_default_store()
    store.add(name, 1)
    while store.add(name, 0) < dist.get_world_size():
        time.sleep(0.001)


def step(name):
    torch.npu.synchronize()
    meet(name)
    if rank == 1:
        time.sleep(0.3)
    model(x).sum().backward()


step("first")
config = profiler._ExperimentalConfig(
    profiler_level=profiler.ProfilerLevel.Level1, export_type=[profiler.ExportType.Text, profiler.ExportType.Db]
)
with profiler.profile(
    on_trace_ready=profiler.tensorboard_trace_handler(sys.argv[1]),
    experimental_config=config,
    schedule=profiler.schedule(wait=0, warmup=0, active=2, repeat=1),
) as seen:
    for name in ("second", "third"):
        step(name)
        seen.step()
dist.barrier()
dist.destroy_process_group()
