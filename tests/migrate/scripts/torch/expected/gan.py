# SPDX-License-Identifier: Apache-2.0
"""Generative adversarial network on rings of points, with the typed constructors of older code."""
import argparse

import numpy as np
import torch
import torch_npu
import torch.nn as nn
from torch.autograd import Variable

parser = argparse.ArgumentParser()
parser.add_argument("--n_steps", type=int, default=3, help="number of steps of training")
parser.add_argument("--batch_size", type=int, default=32, help="size of the batches")
parser.add_argument("--lr", type=float, default=0.0002, help="adam: learning rate")
parser.add_argument("--b1", type=float, default=0.5, help="adam: decay of first order momentum of gradient")
parser.add_argument("--latent_dim", type=int, default=16, help="dimensionality of the latent space")
opt = parser.parse_args()
print(opt)

cuda = True if torch.npu.is_available() else False
torch.manual_seed(0)
np.random.seed(0)


def block(in_feat, out_feat, normalize=True):
    layers = [nn.Linear(in_feat, out_feat)]
    if normalize:
        layers.append(nn.BatchNorm1d(out_feat, 0.8))
    layers.append(nn.LeakyReLU(0.2, inplace=True))
    return layers


class Generator(nn.Module):
    def __init__(self):
        super(Generator, self).__init__()
        self.model = nn.Sequential(
            *block(opt.latent_dim, 32, normalize=False), *block(32, 64), nn.Linear(64, 2), nn.Tanh())

    def forward(self, z):
        return self.model(z)


class Discriminator(nn.Module):
    def __init__(self):
        super(Discriminator, self).__init__()
        self.model = nn.Sequential(nn.Linear(2, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1), nn.Sigmoid())

    def forward(self, points):
        return self.model(points)


adversarial_loss = torch.nn.BCELoss()
generator = Generator()
discriminator = Discriminator()

if cuda:
    generator.npu()
    discriminator.npu()
    adversarial_loss.npu()

optimizer_G = torch.optim.Adam(generator.parameters(), lr=opt.lr, betas=(opt.b1, 0.999))
optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=opt.lr, betas=(opt.b1, 0.999))

Tensor = torch.npu.FloatTensor if cuda else torch.FloatTensor

for i in range(opt.n_steps):
    angle = np.random.uniform(0, 2 * np.pi, (opt.batch_size, 1))
    points = torch.from_numpy(np.concatenate([np.cos(angle), np.sin(angle)], 1))

    valid = Variable(Tensor(points.size(0), 1).fill_(1.0), requires_grad=False)
    fake = Variable(Tensor(points.size(0), 1).fill_(0.0), requires_grad=False)
    real_points = Variable(points.type(Tensor))

    optimizer_G.zero_grad()
    z = Variable(Tensor(np.random.normal(0, 1, (points.shape[0], opt.latent_dim))))
    gen_points = generator(z)
    g_loss = adversarial_loss(discriminator(gen_points), valid)
    g_loss.backward()
    optimizer_G.step()

    optimizer_D.zero_grad()
    real_loss = adversarial_loss(discriminator(real_points), valid)
    fake_loss = adversarial_loss(discriminator(gen_points.detach()), fake)
    d_loss = (real_loss + fake_loss) / 2
    d_loss.backward()
    optimizer_D.step()
    print("step %d loss %.8g" % (2 * i + 1, d_loss.item()))
    print("step %d loss %.8g" % (2 * i + 2, g_loss.item()))
