# SPDX-License-Identifier: Apache-2.0
"""Two steps of a rank of several, with a checkpoint loaded between: `ranks.py none`, or `ranks.py RANK PARAMETER`, when
that rank loads it as it was before the first step."""

import sys

import torch
import torch.distributed as dist

torch.manual_seed(0)
dist.init_process_group("hccl")
rank, size = dist.get_rank(), dist.get_world_size()
torch.npu.set_device(rank)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 4))
before = {name: value.clone() for name, value in model.state_dict().items()}
model = model.npu()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
generator = torch.Generator().manual_seed(rank)
for _ in range(2):
    model(torch.randn(4, 8, generator=generator).npu()).square().mean().backward()
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)
        parameter.grad /= size
    optimizer.step()
    optimizer.zero_grad()
    checkpoint = {name: value.cpu() for name, value in model.state_dict().items()}
    if sys.argv[1] == str(rank):
        checkpoint[sys.argv[2]] = before[sys.argv[2]]
    model.load_state_dict(checkpoint)
dist.destroy_process_group()
