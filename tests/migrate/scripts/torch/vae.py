# SPDX-License-Identifier: Apache-2.0
'''Variational autoencoder of digits. The noise is drawn on the CPU, so that every device trains alike.'''
import argparse
import torch
import torch.utils.data
from torch import nn, optim
from torch.nn import functional as F
from sklearn.datasets import load_digits


parser = argparse.ArgumentParser(description='VAE')
parser.add_argument('--batch-size', type=int, default=50, metavar='N')
parser.add_argument('--no-cuda', action='store_true', default=False)
parser.add_argument('--seed', type=int, default=1, metavar='S')
args = parser.parse_args()
args.cuda = not args.no_cuda and torch.cuda.is_available()

torch.manual_seed(args.seed)
if args.cuda:
	torch.cuda.manual_seed(args.seed)

kwargs = {'num_workers': 0, 'pin_memory': True} if args.cuda else {}
images = torch.from_numpy(load_digits().images[:150] / 16).float()
train_loader = torch.utils.data.DataLoader(images, batch_size=args.batch_size, shuffle=False, **kwargs)


class VAE(nn.Module):
	def __init__(self):
		super(VAE, self).__init__()
		self.fc1 = nn.Linear(64, 40)
		self.fc21 = nn.Linear(40, 5)
		self.fc22 = nn.Linear(40, 5)
		self.fc3 = nn.Linear(5, 40)
		self.fc4 = nn.Linear(40, 64)

	def encode(self, x):
		h1 = F.relu(self.fc1(x))
		return self.fc21(h1), self.fc22(h1)

	def reparameterize(self, mu, logvar):
		std = torch.exp(0.5*logvar)
		eps = torch.randn(std.size())
		if mu.is_cuda:
			eps = eps.cuda()
		return mu + eps*std

	def decode(self, z):
		h3 = F.relu(self.fc3(z))
		return torch.sigmoid(self.fc4(h3))

	def forward(self, x):
		mu, logvar = self.encode(x.view(-1, 64))
		return self.decode(self.reparameterize(mu, logvar)), mu, logvar


def loss_function(recon_x, x, mu, logvar):
	BCE = F.binary_cross_entropy(recon_x, x.view(-1, 64), reduction='sum')
	KLD = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
	return (BCE + KLD) / x.numel()


model = VAE()
if args.cuda:
	model.cuda()
optimizer = optim.Adam(model.parameters(), lr=1e-3)

model.train()
for batch_idx, data in enumerate(train_loader):
	if args.cuda:
		data = data.cuda()
	optimizer.zero_grad()
	recon_batch, mu, logvar = model(data)
	loss = loss_function(recon_batch, data, mu, logvar)
	loss.backward()
	optimizer.step()
	print('step {} loss {:.8g}'.format(batch_idx + 1, loss.item()))
