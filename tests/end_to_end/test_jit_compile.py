# SPDX-License-Identifier: Apache-2.0
"""Training with torch.npu.set_compile_mode(jit_compile=True): torch-npu then asks for operators by their type names.

Each run is a process of its own: the thread of torch-npu that runs backward keeps the mode of its first call, and the
two modes keep different things between forward and backward.
"""

import subprocess
import sys

import pytest
import torch
import torch_npu  # noqa: F401
from compare import resynchronised
from torch import nn


class ResidualBlock(nn.Module):
    @staticmethod
    def batch(generator):
        return torch.randn(4, 3, 16, 16, generator=generator)

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.Conv2d(8, 8, 3, 1, 1, bias=False)
        self.norms = nn.ModuleList([nn.BatchNorm2d(8), nn.BatchNorm2d(8)])
        self.short, self.head = nn.Conv2d(3, 8, 1, 2, bias=False), nn.Linear(8, 5)

    def forward(self, x):
        y = torch.relu(self.norms[0](self.first(x)))
        y = torch.relu(self.norms[1](self.second(y)) + self.short(x))
        return self.head(nn.functional.adaptive_avg_pool2d(y, 1).flatten(1))


class Recurrent(nn.Module):
    @staticmethod
    def batch(generator):
        return torch.randn(4, 7, 6, generator=generator)

    def __init__(self):
        super().__init__()
        self.cells, self.head = nn.LSTM(6, 12, batch_first=True), nn.Linear(12, 5)

    def forward(self, x):
        return self.head(self.cells(x)[0][:, -1])


class Encoder(nn.Module):
    @staticmethod
    def batch(generator):
        return torch.randint(20, (4, 9), generator=generator)

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(20, 16)
        self.layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True)
        self.head = nn.Linear(16, 5)

    def forward(self, x):
        return self.head(self.layer(self.words(x)).mean(1))


class Pooled(nn.Module):
    """Windows of each kind, there and back."""

    @staticmethod
    def batch(generator):
        return torch.randn(4, 3, 16, 16, generator=generator)

    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.Hardswish(), nn.MaxPool2d(2))
        self.each, self.up = nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.ConvTranspose2d(8, 4, 3, 2, 1, 1)
        self.head = nn.Linear(4, 5)

    def forward(self, x):
        y = nn.functional.interpolate(self.up(self.each(self.down(x))), scale_factor=0.5, mode="bilinear")
        return self.head(nn.functional.softplus(y).mean((2, 3)))


KINDS = {kind.__name__: kind for kind in (ResidualBlock, Recurrent, Encoder, Pooled)}
# Lists of parameters at once are nothing that torch-npu does in internal formats.
OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=1e-3, foreach=False),
    "adam": lambda p: torch.optim.Adam(p, lr=1e-3, foreach=False),
}


def train(kind):
    torch.manual_seed(5)
    generator = torch.Generator().manual_seed(11)
    batches = [(kind.batch(generator), torch.randint(5, (4,), generator=generator)) for _ in range(6)]
    for optimizer in OPTIMIZERS:
        print(kind.__name__, optimizer)
        resynchronised(kind(), batches, OPTIMIZERS[optimizer])


def drop():
    """A fourth of ten thousand is dropped (six standard deviations), and the gradient is what was kept."""
    torch.npu.manual_seed(3)
    x = torch.ones(100, 100, device="npu", requires_grad=True)
    y = nn.functional.dropout(x, 0.25)
    y.sum().backward()
    assert abs((y != 0).float().mean().item() - 0.75) < 0.026
    assert torch.equal(x.grad.cpu(), y.detach().cpu())


def refuse():
    """The mode is on: the type is asked for by name, and its refusal says what to do."""
    with pytest.raises(RuntimeError, match=r"Iou is not known.*jit_compile=False"):
        torch_npu.npu_iou(torch.ones(2, 4, device="npu"), torch.ones(2, 4, device="npu"))


def cast():
    """Blocks of NC1HWC0 and FRACTAL_NZ, there and back."""
    for x, number in ((torch.randn(2, 21, 3, 5), 3), (torch.randn(20, 37).half(), 29)):
        y = torch_npu.npu_format_cast(x.npu(), number)
        assert torch_npu.get_npu_format(y) == number
        assert torch.equal(y.cpu(), x)
        torch.testing.assert_close((y + y).cpu(), x + x)


def alone(name, *arguments):
    result = subprocess.run([sys.executable, __file__, name, *arguments], capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr[-4000:]


@pytest.mark.promise(
    "a residual block, an LSTM and an encoder layer train through operators called by type (`jit_compile=True`)"
)
@pytest.mark.parametrize("kind", KINDS)
def test_trains_like_the_cpu(kind):
    alone("train", kind)


@pytest.mark.promise(
    "a residual block, an LSTM and a net of pooling train in internal formats (`allow_internal_format=True`)"
)
@pytest.mark.parametrize("kind", ("ResidualBlock", "Recurrent", "Pooled"))
def test_trains_in_internal_formats(kind):
    alone("train", kind, "internal")


def test_dropout_and_what_is_not_known():
    alone("beside")


if __name__ == "__main__":
    torch.npu.set_compile_mode(jit_compile=True)
    torch.npu.config.allow_internal_format = "internal" in sys.argv
    if sys.argv[1] == "train":
        train(KINDS[sys.argv[2]])
    else:
        drop()
        refuse()
        torch.npu.config.allow_internal_format = True
        cast()
