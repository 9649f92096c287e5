# SPDX-License-Identifier: Apache-2.0
"""A small residual network in mixed precision, with the options of a big training script."""
import argparse
import random
import warnings

import numpy as np
import torch
import torch_npu
import torch.backends.cudnn as cudnn
import torch.nn as nn
from torch_npu.npu.amp import GradScaler, autocast

parser = argparse.ArgumentParser(description="Residual network")
parser.add_argument("-b", "--batch-size", default=16, type=int)
parser.add_argument("--lr", default=1e-3, type=float)
parser.add_argument("--seed", default=17, type=int, help="seed for initializing training")
parser.add_argument("--gpu", default=0, type=int, help="GPU id to use")
parser.add_argument("--no-amp", dest="amp", action="store_false")


class BasicBlock(nn.Module):
    def __init__(self, inplanes, planes, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(inplanes, planes, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if stride != 1 or inplanes != planes:
            self.downsample = nn.Sequential(nn.Conv2d(inplanes, planes, 1, stride, bias=False), nn.BatchNorm2d(planes))

    def forward(self, x):
        identity = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += identity
        return self.relu(out)


class ResNet(nn.Module):
    def __init__(self, width=16, classes=10):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(True))
        self.layer1 = BasicBlock(width, width)
        self.layer2 = BasicBlock(width, 2 * width, 2)
        self.layer3 = BasicBlock(2 * width, 4 * width, 2)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(4 * width, classes)

    def forward(self, x):
        x = self.layer3(self.layer2(self.layer1(self.stem(x))))
        return self.fc(torch.flatten(self.avgpool(x), 1))


def main():
    args = parser.parse_args()
    random.seed(args.seed)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    torch.npu.manual_seed_all(args.seed)
    cudnn.benchmark = False
    torch.backends.cudnn.deterministic = True

    if not torch.npu.is_available():
        warnings.warn("no GPU, this will be slow")
        args.gpu, args.amp = None, False

    model = ResNet()
    criterion = nn.CrossEntropyLoss()
    if args.gpu is not None:
        torch.npu.set_device(args.gpu)
        model = model.npu(args.gpu)
        criterion = criterion.npu(args.gpu)
        print("Use GPU: {} for training".format(torch.npu.get_device_name(args.gpu)))
    optimizer = torch.optim.SGD(model.parameters(), args.lr, momentum=0.9, weight_decay=1e-4)
    scaler = GradScaler(init_scale=1024.0, enabled=args.amp)

    model.train()
    for step in range(3):
        images = torch.randn(args.batch_size, 3, 16, 16)
        target = torch.randint(0, 10, (args.batch_size,))
        if args.gpu is not None:
            images = images.npu(args.gpu, non_blocking=True)
            target = target.npu(args.gpu, non_blocking=True)
        with autocast(enabled=args.amp):
            loss = criterion(model(images), target)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 10.0)
        scaler.step(optimizer)
        scaler.update()
        print("step %d loss %.8g" % (step + 1, loss.item()))
    if torch.npu.is_available():
        print("peak memory: %d bytes" % torch.npu.max_memory_allocated())


if __name__ == "__main__":
    main()
