# SPDX-License-Identifier: Apache-2.0
"""Models of the kinds that are deployed, with random weights, and their ONNX files: what tests/clients/onnx_models.py
and model_bench.py convert. Needs torch and, to export, onnx and onnxscript."""

import torch
from torch import nn
from torch.nn import functional as F


def conv(inputs, outputs, kernel=3, stride=1, act=nn.ReLU, groups=1):
    layers = [
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
    ]
    return nn.Sequential(*layers, act()) if act else nn.Sequential(*layers)


class Bottleneck(nn.Module):
    def __init__(self, inputs, middle, stride):
        super().__init__()
        outputs = 4 * middle
        self.main = nn.Sequential(
            conv(inputs, middle, 1), conv(middle, middle, 3, stride), conv(middle, outputs, 1, act=None)
        )
        same = stride == 1 and inputs == outputs
        self.side = nn.Identity() if same else conv(inputs, outputs, 1, stride, None)

    def forward(self, x):
        return F.relu(self.main(x) + self.side(x))


class ResNet50(nn.Module):
    def __init__(self):
        super().__init__()
        layers, inputs = [conv(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1)], 64
        for count, middle, stride in ((3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2)):
            for i in range(count):
                layers.append(Bottleneck(inputs, middle, stride if i == 0 else 1))
                inputs = 4 * middle
        self.layers, self.last = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1)), nn.Linear(inputs, 1000)

    def forward(self, x):
        return self.last(self.layers(x).flatten(1))


class Excite(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.down, self.up = nn.Conv2d(channels, channels // 4, 1), nn.Conv2d(channels // 4, channels, 1)

    def forward(self, x):
        return x * F.hardsigmoid(self.up(F.relu(self.down(self.pool(x)))))


class Inverted(nn.Module):
    def __init__(self, inputs, wide, outputs, kernel, stride, excite, act):
        super().__init__()
        middle = [conv(wide, wide, kernel, stride, act, wide)] + [Excite(wide)] * excite
        self.main = nn.Sequential(conv(inputs, wide, 1, act=act), *middle, conv(wide, outputs, 1, act=None))
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.main(x) if self.adds else self.main(x)


class MobileNetV3(nn.Module):
    BLOCKS = (
        (16, 16, 16, 3, 1, 0, nn.ReLU), (16, 64, 24, 3, 2, 0, nn.ReLU), (24, 72, 24, 3, 1, 0, nn.ReLU),
        (24, 72, 40, 5, 2, 1, nn.ReLU), (40, 120, 40, 5, 1, 1, nn.ReLU), (40, 240, 80, 3, 2, 0, nn.Hardswish),
        (80, 200, 80, 3, 1, 0, nn.Hardswish), (80, 480, 112, 3, 1, 1, nn.Hardswish),
        (112, 672, 160, 5, 2, 1, nn.Hardswish), (160, 960, 160, 5, 1, 1, nn.Hardswish),
    )  # fmt: skip

    def __init__(self):
        super().__init__()
        blocks = [Inverted(*block) for block in self.BLOCKS]
        first, last = conv(3, 16, 3, 2, nn.Hardswish), conv(160, 960, 1, act=nn.Hardswish)
        self.layers = nn.Sequential(first, *blocks, last, nn.AdaptiveAvgPool2d(1))
        self.head = nn.Sequential(nn.Linear(960, 1280), nn.Hardswish(), nn.Linear(1280, 1000))

    def forward(self, x):
        return self.head(self.layers(x).flatten(1))


def heads(x, count):
    return x.view(x.shape[0], x.shape[1], count, -1).transpose(1, 2)


def attend(q, k, v, mask):
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    return torch.softmax(scores if mask is None else scores + mask, -1) @ v


class Encoder(nn.Module):
    def __init__(self, width, count):
        super().__init__()
        self.count = count
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attention(self, x, mask, past=None):
        q, k, v = (heads(layer(x), self.count) for layer in (self.q, self.k, self.v))
        if past is not None:
            k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
        return self.out(attend(q, k, v, mask).transpose(1, 2).reshape(x.shape)), k, v

    def feed(self, x):
        return self.down(F.gelu(self.up(x)))


class Bert(nn.Module):
    def __init__(self, layers=4, width=256, count=4, words=1000):
        super().__init__()
        self.words, self.places, self.parts = (nn.Embedding(n, width) for n in (words, 512, 2))
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList([Encoder(width, count) for _ in range(layers)])
        self.pool, self.last = nn.Linear(width, width), nn.Linear(width, 2)

    def forward(self, ids, part, mask):
        x = self.norm(self.words(ids) + self.places(torch.arange(ids.shape[1])[None]) + self.parts(part))
        bias = (1.0 - mask[:, None, None, :].float()) * -10000.0
        for layer in self.layers:
            x = layer.first(x + layer.attention(x, bias)[0])
            x = layer.second(x + layer.feed(x))
        return x, self.last(torch.tanh(self.pool(x[:, 0])))


class Gpt(nn.Module):
    """One step of generation: keys and values of words before come in and go out."""

    def __init__(self, layers=2, width=128, count=4, words=500):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(64, width)
        self.layers = nn.ModuleList([Encoder(width, count) for _ in range(layers)])
        self.norm, self.last = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, ids, *past):
        before, now = past[0].shape[2], ids.shape[1]
        at = torch.arange(before, before + now)
        x = self.words(ids) + self.places(at[None])
        mask = torch.where(torch.arange(before + now)[None] <= at[:, None], 0.0, -1e9)
        kept = []
        for i, layer in enumerate(self.layers):
            y, k, v = layer.attention(layer.first(x), mask, past[2 * i : 2 * i + 2])
            kept += [k, v]
            x = x + y
            x = x + layer.feed(layer.second(x))
        return self.last(self.norm(x)), *kept


class Vit(nn.Module):
    def __init__(self, width=192, layers=4, count=3):
        super().__init__()
        self.patch = nn.Conv2d(3, width, 16, 16)
        self.token, self.places = (nn.Parameter(torch.randn(1, n, width)) for n in (1, 197))
        self.layers = nn.ModuleList([Encoder(width, count) for _ in range(layers)])
        self.norm, self.last = nn.LayerNorm(width), nn.Linear(width, 1000)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.places
        for layer in self.layers:
            x = x + layer.attention(layer.first(x), None)[0]
            x = x + layer.feed(layer.second(x))
        return self.last(self.norm(x)[:, 0])


class Unet(nn.Module):
    def __init__(self):
        super().__init__()

        def two(inputs, outputs):
            return nn.Sequential(conv(inputs, outputs), conv(outputs, outputs))

        self.a, self.b, self.c, self.d, self.e = two(3, 16), two(16, 32), two(32, 64), two(64, 32), two(48, 16)
        self.up = nn.ConvTranspose2d(64, 32, 2, 2)
        self.wider = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False)
        self.last = nn.Conv2d(16, 2, 1)

    def forward(self, x):
        a = self.a(x)
        b = self.b(F.max_pool2d(a, 2))
        y = self.d(torch.cat([self.up(self.c(F.max_pool2d(b, 2))), b], 1))
        return torch.sigmoid(self.last(self.e(torch.cat([self.wider(y), a], 1))))


class Detector(nn.Module):
    """As YOLO has it: SiLU, pools of several sizes side by side, two scales, boxes decoded in the graph."""

    def __init__(self):
        super().__init__()
        act = nn.SiLU
        self.first = nn.Sequential(
            conv(3, 16, 3, 2, act), conv(16, 32, 3, 2, act), conv(32, 32, act=act), conv(32, 64, 3, 2, act)
        )
        self.deep, self.mixed, self.joined = (
            conv(64, 128, 3, 2, act),
            conv(512, 128, 1, act=act),
            conv(192, 64, act=act),
        )
        self.pools = nn.ModuleList([nn.MaxPool2d(k, 1, k // 2) for k in (5, 9, 13)])
        self.fine, self.coarse = nn.Conv2d(64, 255, 1), nn.Conv2d(128, 255, 1)

    @staticmethod
    def boxes(x, stride):
        n, _, high, wide = x.shape
        x = x.view(n, 3, 85, high, wide).permute(0, 1, 3, 4, 2).sigmoid()
        y_at, x_at = torch.meshgrid(torch.arange(high), torch.arange(wide), indexing="ij")
        at = torch.stack([x_at, y_at], -1).view(1, 1, high, wide, 2).float()
        place, size = (x[..., 0:2] * 2 - 0.5 + at) * stride, (x[..., 2:4] * 2) ** 2 * stride
        return torch.cat([place, size, x[..., 4:]], -1).view(n, -1, 85)

    def forward(self, x):
        x = self.first(x)
        y = self.deep(x)
        y = self.mixed(torch.cat([y] + [pool(y) for pool in self.pools], 1))
        z = self.joined(torch.cat([F.interpolate(y, scale_factor=2.0, mode="nearest"), x], 1))
        return torch.cat([self.boxes(self.fine(z), 8), self.boxes(self.coarse(y), 16)], 1)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(16, 32, 2, batch_first=True, bidirectional=True)
        self.gru, self.last = nn.GRU(64, 24, batch_first=True), nn.Linear(24, 5)

    def forward(self, x):
        return self.last(self.gru(self.lstm(x)[0])[0][:, -1])


def images(batch, size):
    return {"x": torch.randn(batch, 3, size, size)}


def sentences(batch, length=128):
    ids = torch.randint(0, 1000, (batch, length))
    return {"ids": ids, "part": torch.zeros_like(ids), "mask": torch.ones_like(ids)}


def words(batch):
    past = {f"past{i}": torch.randn(batch, 4, 3, 32) for i in range(4)}
    return {"ids": torch.randint(0, 500, (batch, 4)), **past}


MODELS = {
    "ResNet-50": (ResNet50, lambda batch: images(batch, 224)),
    "MobileNetV3": (MobileNetV3, lambda batch: images(batch, 224)),
    "BERT": (Bert, sentences),
    "GPT with its cache": (Gpt, words),
    "ViT": (Vit, lambda batch: images(batch, 224)),
    "U-Net": (Unet, lambda batch: images(batch, 64)),
    "detector": (Detector, lambda batch: images(batch, 128)),
    "LSTM and GRU": (Recurrent, lambda batch: {"x": torch.randn(batch, 7, 16)}),
}


def made(name, batch=1):
    """The model and its inputs; statistics of normalisation are none of the trivial ones."""
    torch.manual_seed(0)
    kind, inputs = MODELS[name]
    model = kind().eval()
    for layer in model.modules():
        if isinstance(layer, nn.BatchNorm2d):
            layer.running_mean.normal_(0, 0.1), layer.running_var.uniform_(0.5, 1.5)
            nn.init.uniform_(layer.weight, 0.8, 1.2), nn.init.normal_(layer.bias, 0, 0.1)
    return model, inputs(batch)


def export(model, inputs, path, opset):
    """Opset 18 by torch's exporter of today, 13 by the one before."""
    with torch.no_grad():
        torch.onnx.export(model, tuple(inputs.values()), str(path), input_names=list(inputs), opset_version=opset,
                          dynamo=opset >= 18, **({"external_data": False} if opset >= 18 else {}))  # fmt: skip
