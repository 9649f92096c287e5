# SPDX-License-Identifier: Apache-2.0
from __future__ import print_function
import argparse

import torch
import torch_npu
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from sklearn.datasets import load_digits
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, 1)
        self.conv2 = nn.Conv2d(16, 32, 3, 1)
        self.fc1 = nn.Linear(128, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = F.relu(self.fc1(torch.flatten(x, 1)))
        return F.log_softmax(self.fc2(x), dim=1)


def train(args, model, device, train_loader, optimizer, scheduler):
    model.train()
    for batch_idx, (data, target) in enumerate(train_loader):
        data, target = data.to(device), target.to(device)
        optimizer.zero_grad()
        output = model(data)
        loss = F.nll_loss(output, target)
        loss.backward()
        optimizer.step()
        scheduler.step()
        print('step {} loss {:.8g}'.format(batch_idx + 1, loss.item()))
        if batch_idx + 1 == args.steps:
            break


def test(model, device, test_loader):
    model.eval()
    correct = 0
    with torch.no_grad():
        for data, target in test_loader:
            data, target = data.to(device), target.to(device)
            pred = model(data).argmax(dim=1, keepdim=True)
            correct += pred.eq(target.view_as(pred)).sum().item()
    print('{} of {} right'.format(correct, len(test_loader.dataset)))


def main():
    parser = argparse.ArgumentParser(description='Digits in PyTorch')
    parser.add_argument('--batch-size', type=int, default=64)
    parser.add_argument('--steps', type=int, default=3)
    parser.add_argument('--lr', type=float, default=0.05, metavar='LR')
    parser.add_argument('--no-cuda', action='store_true', default=False, help='disables CUDA training')
    parser.add_argument('--seed', type=int, default=1)
    args = parser.parse_args()
    use_cuda = not args.no_cuda and torch.npu.is_available()

    torch.manual_seed(args.seed)
    if use_cuda:
        torch.npu.manual_seed(args.seed)
    device = torch.device("npu" if use_cuda else "cpu")

    kwargs = {'batch_size': args.batch_size}
    if use_cuda:
        kwargs.update({'num_workers': 1, 'pin_memory': True})
    digits = load_digits()
    images = torch.tensor(digits.images[:, None] / 16, dtype=torch.float32)
    dataset = TensorDataset(images, torch.tensor(digits.target))
    generator = torch.Generator().manual_seed(args.seed)
    train_loader = DataLoader(dataset, shuffle=True, generator=generator, **kwargs)
    test_loader = DataLoader(torch.utils.data.Subset(dataset, range(100)), **kwargs)

    model = Net().to(device)
    optimizer = optim.SGD(model.parameters(), lr=args.lr, momentum=0.5)
    scheduler = StepLR(optimizer, step_size=1, gamma=0.7)
    train(args, model, device, train_loader, optimizer, scheduler)
    test(model, device, test_loader)


if __name__ == '__main__':
    main()
