# SPDX-License-Identifier: Apache-2.0
"""A training script for torchrun that saves after each step and goes on from what was saved: torch_survivor.py FOLDER
KILLS. While fewer than KILLS processes have been killed, the last rank ends itself at a random moment of its life."""

import os
import random
import signal
import sys
import threading
import time
from pathlib import Path

import torch
import torch.distributed as dist

STEPS = 12


def kill_me_later(folder, kills):
    """Notes the kill first, so that the next life knows."""
    number = len(list(folder.glob("kill*")))
    if number >= kills:
        return
    seconds = random.Random(number).uniform(0.02, 0.5)

    def kill():
        time.sleep(seconds)
        (folder / f"kill{number}").touch()
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=kill, daemon=True).start()


def main():
    folder, kills = Path(sys.argv[1]), int(sys.argv[2])
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    torch.npu.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("hccl")
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.GELU(), torch.nn.Linear(256, 64)).npu()
    wrapped = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.AdamW(wrapped.parameters(), lr=1e-2)
    saved, first = folder / "saved.pt", 0
    if saved.exists():
        state = torch.load(saved, map_location="npu")
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        first = state["step"]
    warm = torch.ones(8, device="npu")
    dist.all_reduce(warm)
    assert warm.tolist() == [size] * 8
    if rank == size - 1:
        kill_me_later(folder, kills)
    for step in range(first, STEPS):
        generator = torch.Generator().manual_seed(step * size + rank)
        data = torch.randn(32, 64, generator=generator).npu()
        loss = (wrapped(data) - data).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == 0:
            part = folder / "saved.part"
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step + 1}, part)
            part.rename(saved)
        time.sleep(0.05)  # time to be killed in
    dist.barrier()
    if rank == 0:
        torch.save({name: value.cpu() for name, value in model.state_dict().items()}, folder / "weights.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
