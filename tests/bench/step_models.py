# SPDX-License-Identifier: Apache-2.0
"""What whole steps are timed on beside the models of tests/end_to_end: images through bottlenecks and through depthwise
convolutions with gates, as in ResNet-50 and MobileNetV3, and sequences through an LSTM."""

import torch.nn.functional as F
from torch import nn


def conv_norm(i, o, kernel, stride=1, groups=1):
    conv = nn.Conv2d(i, o, kernel, stride, kernel // 2, groups=groups, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(o))


class Bottleneck(nn.Module):
    """The block of ResNet-50: 1x1, 3x3, 1x1 to four times the width."""

    def __init__(self, i, width, stride):
        super().__init__()
        o = 4 * width
        self.reduce, self.conv = conv_norm(i, width, 1), conv_norm(width, width, 3, stride)
        self.expand = conv_norm(width, o, 1)
        self.down = nn.Identity() if stride == 1 and i == o else conv_norm(i, o, 1, stride)

    def forward(self, x):
        return F.relu(self.expand(F.relu(self.conv(F.relu(self.reduce(x))))) + self.down(x))


class ResNet50(nn.Sequential):
    def __init__(self, classes=10):
        layers, i = [conv_norm(3, 64, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)], 64
        for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
            for k in range(count):
                layers.append(Bottleneck(i, width, stride if k == 0 else 1))
                i = 4 * width
        super().__init__(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(i, classes))


class Gate(nn.Module):
    """Squeeze and excitation: each channel times a number made from the mean of all."""

    def __init__(self, channels):
        super().__init__()
        inner = (channels // 4 + 7) // 8 * 8
        self.squeeze, self.excite = nn.Conv2d(channels, inner, 1), nn.Conv2d(inner, channels, 1)

    def forward(self, x):
        return x * F.hardsigmoid(self.excite(F.relu(self.squeeze(F.adaptive_avg_pool2d(x, 1)))))


class Inverted(nn.Module):
    """Widened, convolved channel by channel, gated, narrowed."""

    def __init__(self, i, kernel, width, o, gated, activation, stride):
        super().__init__()
        widen = [conv_norm(i, width, 1), activation()] if width != i else []
        gate = [Gate(width)] if gated else []
        deep = [conv_norm(width, width, kernel, stride, width), *gate, activation()]
        self.layers = nn.Sequential(*widen, *deep, conv_norm(width, o, 1))
        self.same = stride == 1 and i == o

    def forward(self, x):
        return x + self.layers(x) if self.same else self.layers(x)


class MobileNetV3(nn.Sequential):
    """The small one, with the table of its paper (arXiv 1905.02244, table 2)."""

    def __init__(self, classes=10):
        layers, i = [conv_norm(3, 16, 3, 2), nn.Hardswish()], 16
        for kernel, width, o, gated, activation, stride in (
            (3, 16, 16, True, nn.ReLU, 2),
            (3, 72, 24, False, nn.ReLU, 2),
            (3, 88, 24, False, nn.ReLU, 1),
            (5, 96, 40, True, nn.Hardswish, 2),
            (5, 240, 40, True, nn.Hardswish, 1),
            (5, 240, 40, True, nn.Hardswish, 1),
            (5, 120, 48, True, nn.Hardswish, 1),
            (5, 144, 48, True, nn.Hardswish, 1),
            (5, 288, 96, True, nn.Hardswish, 2),
            (5, 576, 96, True, nn.Hardswish, 1),
            (5, 576, 96, True, nn.Hardswish, 1),
        ):
            layers.append(Inverted(i, kernel, width, o, gated, activation, stride))
            i = o
        layers += [conv_norm(i, 576, 1), nn.Hardswish(), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
        super().__init__(*layers, nn.Linear(576, 1024), nn.Hardswish(), nn.Linear(1024, classes))


class Lstm(nn.Module):
    """Two layers over sequences [batch, time, width]."""

    def __init__(self, width=256, classes=10):
        super().__init__()
        self.layers = nn.LSTM(width, width, num_layers=2, batch_first=True)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.layers(x)[0][:, -1])
