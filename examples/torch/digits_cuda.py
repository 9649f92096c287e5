# SPDX-License-Identifier: Apache-2.0
"""Ordinary GPU training code: a small CNN on scikit-learn's handwritten digits. Nothing in it knows of an NPU.

python digits_cuda.py --epochs 15 --amp --dropout 0.2 --json result.json
"""

import argparse
import json
import time

import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        widths = [1, 16, 32, 64]
        blocks = []
        for i, o in zip(widths, widths[1:], strict=False):
            blocks += [nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True)]
            blocks += [nn.MaxPool2d(2)] if o == 32 else []
        self.features = nn.Sequential(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.head = nn.Sequential(nn.Dropout(dropout), nn.Linear(64, 10))

    def forward(self, x):
        return self.head(self.features(x))


def data(seed):
    digits = load_digits()
    images = (digits.images / 16.0).astype("float32")[:, None]
    split = train_test_split(images, digits.target, test_size=0.2, stratify=digits.target, random_state=seed)
    x_train, x_test, y_train, y_test = (torch.from_numpy(a) for a in split)
    return TensorDataset(x_train, y_train), TensorDataset(x_test, y_test)


@torch.no_grad()
def accuracy(model, loader, device):
    model.eval()
    right = total = 0
    for x, y in loader:
        right += (model(x.to(device)).argmax(1).cpu() == y).sum().item()
        total += len(y)
    model.train()
    return right / total


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--amp", action="store_true", help="mixed precision with loss scaling")
    parser.add_argument("--steps", type=int, default=0, help="stop after so many steps (0: all)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", help="write losses and accuracies to this file")
    args = parser.parse_args()

    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(args.seed)
    train, test = data(args.seed)
    train_loader = DataLoader(train, args.batch_size, shuffle=True, drop_last=True, pin_memory=device == "cuda")
    test_loader = DataLoader(test, 256)
    model = Net(args.dropout).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.epochs * len(train_loader))
    half = torch.float16 if device == "cuda" else torch.bfloat16
    scaler = torch.amp.GradScaler(device, enabled=args.amp and device == "cuda")
    criterion = nn.CrossEntropyLoss()

    losses, epochs = [], []
    for epoch in range(args.epochs):
        start, epoch_losses = time.perf_counter(), []
        for x, y in train_loader:
            x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
            optimizer.zero_grad()
            with torch.autocast(device, dtype=half, enabled=args.amp):
                loss = criterion(model(x), y)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            schedule.step()
            epoch_losses.append(loss.item())
            if args.steps and len(losses) + len(epoch_losses) >= args.steps:
                break
        losses += epoch_losses
        seconds = time.perf_counter() - start
        record = {
            "loss": sum(epoch_losses) / len(epoch_losses),
            "accuracy": accuracy(model, test_loader, device),
            "seconds": seconds,
        }
        epochs.append(record)
        print(
            f"epoch {epoch + 1:2d}/{args.epochs}  loss {record['loss']:.4f}  "
            f"accuracy {record['accuracy'] * 100:5.2f} %  {seconds:.2f} s",
            flush=True,
        )
        if args.steps and len(losses) >= args.steps:
            break
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump({"device": device, "losses": losses, "epochs": epochs}, file, indent=1)


if __name__ == "__main__":
    main()
