# SPDX-License-Identifier: Apache-2.0
"""Saves a checkpoint after the first step, loads it into a second model and goes on from there."""
import os
import random
import tempfile

import numpy as np
import torch
import torch_npu
import torch.nn as nn


def seed_everything(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    if torch.npu.is_available():
        torch.npu.manual_seed(seed)
        torch.npu.manual_seed_all(seed)  # several GPUs
        torch.backends.cudnn.benchmark = False
    os.environ["PYTHONHASHSEED"] = str(seed)


def build():
    return nn.Sequential(nn.Linear(10, 32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, 1))


def move_optimizer(optimizer):
    """States of optimizers come back on the CPU."""
    for state in optimizer.state.values():
        for k, v in state.items():
            if torch.is_tensor(v) and not v.is_npu and k != "step":
                state[k] = v.npu()


class Trainer:
    def __init__(self, model, use_gpu):
        self.model, self.use_gpu = model, use_gpu
        self.criterion = nn.SmoothL1Loss()
        if self.use_gpu:
            self.model = self.model.npu()
            self.criterion = self.criterion.npu()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.01)

    def step(self, x, y):
        if self.use_gpu:
            x, y = x.npu(non_blocking=True), y.npu(non_blocking=True)
        self.optimizer.zero_grad()
        loss = self.criterion(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def save(self, path):
        state = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
        if self.use_gpu:
            state["cuda_rng"] = torch.npu.get_rng_state_all()
        torch.save(state, path)

    def load(self, path):
        if self.use_gpu:
            checkpoint = torch.load(path, map_location="npu:0")
            torch.npu.set_rng_state_all([state.cpu() for state in checkpoint["cuda_rng"]])
        else:
            checkpoint = torch.load(path, map_location=lambda storage, loc: storage)
        self.model.load_state_dict(checkpoint["model"])
        self.optimizer.load_state_dict(torch.load(path, map_location="cpu")["optimizer"])
        if self.use_gpu:
            move_optimizer(self.optimizer)


if __name__ == "__main__":
    seed_everything(8)
    use_gpu = torch.npu.is_available() and torch.npu.device_count() > 0
    batches = [(torch.randn(12, 10), torch.randn(12, 1)) for _ in range(3)]
    first = Trainer(build(), use_gpu)
    print("step 1 loss %.8g" % first.step(*batches[0]))
    second = Trainer(build(), use_gpu)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "checkpoint.pt")
        first.save(path)
        second.load(path)
    if use_gpu:
        del first
        torch.npu.empty_cache()
    for i, batch in enumerate(batches[1:], 2):
        print("step %d loss %.8g" % (i, second.step(*batch)))
