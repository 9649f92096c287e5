# SPDX-License-Identifier: Apache-2.0
"""Small versions of the models people train, each with a batch maker and a loss, all seeded."""

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    """The basic block of ResNet-18/34."""

    def __init__(self, i, o, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o)
        self.conv2, self.bn2 = nn.Conv2d(o, o, 3, 1, 1, bias=False), nn.BatchNorm2d(o)
        self.down = nn.Identity()
        if stride != 1 or i != o:
            self.down = nn.Sequential(nn.Conv2d(i, o, 1, stride, bias=False), nn.BatchNorm2d(o))

    def forward(self, x):
        return F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))) + self.down(x))


class ResNet18(nn.Module):
    def __init__(self, width=64, classes=10):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, width, 7, 2, 3, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, 2, 1),
        )
        blocks, i = [], width
        for stage in range(4):
            o = width * 2**stage
            blocks += [Block(i, o, 1 if stage == 0 else 2), Block(o, o, 1)]
            i = o
        self.blocks = nn.Sequential(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.head = nn.Linear(i, classes)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)))


class Encoder(nn.Module):
    """Token classification with nn.TransformerEncoder (fused attention)."""

    def __init__(self, words=100, width=64, heads=4, layers=2):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        layer = nn.TransformerEncoderLayer(width, heads, 2 * width, dropout=0.0, batch_first=True, activation="gelu")
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, words)

    def forward(self, x):
        return self.head(self.layers(self.embed(x))).transpose(1, 2)


class CausalAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        b, s, w = x.shape
        q, k, v = self.qkv(x).view(b, s, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(b, s, w))


class GptBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(width), CausalAttention(width, heads)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Gpt(nn.Module):
    def __init__(self, words=80, width=64, heads=4, layers=2, length=32):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*[GptBlock(width, heads) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)
        self.head.weight = self.words.weight

    def forward(self, x):
        h = self.words(x) + self.places(torch.arange(x.shape[1], device=x.device))
        return self.head(self.norm(self.blocks(h))).transpose(1, 2)


class Vit(nn.Module):
    def __init__(self, size=32, patch=8, width=64, heads=4, layers=2, classes=10):
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.token = nn.Parameter(torch.randn(1, 1, width) * 0.02)
        self.places = nn.Parameter(torch.randn(1, (size // patch) ** 2 + 1, width) * 0.02)
        layer = nn.TransformerEncoderLayer(
            width, heads, 2 * width, dropout=0.0, batch_first=True, norm_first=True, activation="gelu"
        )
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, classes))

    def forward(self, x):
        p = self.patches(x).flatten(2).transpose(1, 2)
        h = torch.cat([self.token.expand(len(p), -1, -1), p], 1) + self.places
        return self.head(self.layers(h)[:, 0])


class Recurrent(nn.Module):
    def __init__(self, kind, width=24):
        super().__init__()
        self.layer = kind(12, width, batch_first=True)
        self.head = nn.Linear(width, 7)

    def forward(self, x):
        return self.head(self.layer(x)[0][:, -1])


def _images(size, count, classes=10):
    return lambda: (torch.randn(count, 3, size, size), torch.randint(0, classes, (count,)))


def _tokens(words, batch, length):
    return lambda: (torch.randint(0, words, (batch, length)), torch.randint(0, words, (batch, length)))


def _sequences():
    return torch.randn(6, 9, 12), torch.randint(0, 7, (6,))


def _mlp():
    return nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 5))


# name: (model maker, batch maker)
MODELS = {
    "mlp": (_mlp, lambda: (torch.randn(32, 20), torch.randint(0, 5, (32,)))),
    "resnet18": (lambda: ResNet18(width=16), _images(64, 4)),
    "encoder": (Encoder, _tokens(100, 4, 16)),
    "gpt": (Gpt, _tokens(80, 4, 32)),
    "vit": (Vit, _images(32, 8)),
    "lstm": (lambda: Recurrent(nn.LSTM), _sequences),
    "gru": (lambda: Recurrent(nn.GRU), _sequences),
}

OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.02, momentum=0.9, weight_decay=1e-4),
    "adam": lambda p: torch.optim.Adam(p, lr=1e-3),
    "adamw": lambda p: torch.optim.AdamW(p, lr=1e-3),
    "adam-single": lambda p: torch.optim.Adam(p, lr=1e-3, foreach=False),
}


def make(name, seed=0):
    """The model and 10 batches of `name`, the same for every device."""
    torch.manual_seed(seed)
    model_maker, batch_maker = MODELS[name]
    model = model_maker()
    return model, [batch_maker() for _ in range(10)]
