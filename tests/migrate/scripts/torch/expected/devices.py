# SPDX-License-Identifier: Apache-2.0
"""A translator of digit strings (GRU to GRU) that names its device in every way there is."""

import torch as th
import torch_npu
import torch.nn.functional as F
from torch import nn, npu as cuda

config = {
    "device": "npu:0" if cuda.is_available() else "cpu",
    "gpu_id": 0 if cuda.is_available() else -1,
    "width": 24,
    "words": 12,  # the ten digits, begin and end
    "batch": 8,
}


def device_of(gpu_id):
    """'cuda' and a number, or the CPU."""
    if gpu_id >= 0:
        return th.device(f"npu:{gpu_id}")
    return th.device("cpu")


def same_device(gpu_id):
    if gpu_id < 0:
        return "cpu"
    assert th.device("npu", gpu_id) == th.device("npu:%d" % gpu_id) == th.device(type="npu", index=gpu_id)
    return "npu:{}".format(gpu_id)


class Seq2Seq(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.encoder = nn.GRU(width, width, batch_first=True)
        self.decoder = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, words)
        self.register_buffer("penalty", th.zeros(words))

    def forward(self, source, target):
        _, state = self.encoder(self.embedding(source))
        begin = th.full((len(source), 1), 10, dtype=th.long, device=source.device)
        outputs, _ = self.decoder(self.embedding(th.cat([begin, target[:, :-1]], 1)), state)
        return self.out(outputs) - self.penalty


def batch(generator, device):
    source = th.randint(0, 10, (config["batch"], 6), generator=generator)
    target = th.cat([source.flip(1), th.full((config["batch"], 1), 11)], 1)
    return source.to(device), target.to(device=device, dtype=th.long)


def main():
    th.manual_seed(12)
    device = device_of(config["gpu_id"])
    assert str(device) == same_device(config["gpu_id"]) == config["device"]
    model = Seq2Seq(config["words"], config["width"]).to(config["device"])
    smoothing = th.tensor(0.1, device=device)
    if device.type == "npu":
        assert all(p.is_npu and p.get_device() == 0 for p in model.parameters())
        assert th.zeros(2, device="npu").device.type == "npu" and model.penalty.device == th.zeros(1).npu(0).device
    optimizer = th.optim.Adamax(model.parameters(), lr=2e-3)
    generator = th.Generator(device="cpu").manual_seed(12)
    for step in range(3):
        source, target = batch(generator, device)
        logits = model(source, target).transpose(1, 2)
        loss = F.cross_entropy(logits, target) * (1 - smoothing) - smoothing * F.log_softmax(logits, 1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("step", step + 1, "loss", f"{loss.item():.8g}")


main()
