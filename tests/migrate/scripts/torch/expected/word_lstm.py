# SPDX-License-Identifier: Apache-2.0
"""Language model: an LSTM predicts the next word of a made-up text, its state goes from one piece to the next."""
import argparse
import math

import torch
import torch_npu
import torch.nn as nn

parser = argparse.ArgumentParser(description='LSTM language model')
parser.add_argument('--emsize', type=int, default=24)
parser.add_argument('--nhid', type=int, default=24)
parser.add_argument('--nlayers', type=int, default=2)
parser.add_argument('--clip', type=float, default=0.25)
parser.add_argument('--bptt', type=int, default=12)
parser.add_argument('--seed', type=int, default=1111)
parser.add_argument('--cpu', action='store_true', help='do not use CUDA')
args = parser.parse_args()

torch.manual_seed(args.seed)
if torch.npu.is_available():
    if args.cpu:
        print("There is a CUDA device, --cpu leaves it alone.")
    else:
        torch.npu.manual_seed_all(args.seed)

device = torch.device("npu:0" if torch.npu.is_available() and not args.cpu else "cpu")

NTOKENS = 60


def batchify(data, bsz):
    nbatch = data.size(0) // bsz
    data = data.narrow(0, 0, nbatch * bsz)
    return data.view(bsz, -1).t().contiguous().to(device)


def get_batch(source, i):
    seq_len = min(args.bptt, len(source) - 1 - i)
    return source[i:i + seq_len], source[i + 1:i + 1 + seq_len].view(-1)


class RNNModel(nn.Module):
    def __init__(self, ntoken, ninp, nhid, nlayers):
        super().__init__()
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = nn.LSTM(ninp, nhid, nlayers)
        self.decoder = nn.Linear(nhid, ntoken)
        self.nhid, self.nlayers = nhid, nlayers
        self.decoder.weight = self.encoder.weight
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)

    def forward(self, input, hidden):
        output, hidden = self.rnn(self.encoder(input), hidden)
        return self.decoder(output).view(-1, self.decoder.out_features), hidden

    def init_hidden(self, bsz):
        weight = next(self.parameters())
        return (weight.new_zeros(self.nlayers, bsz, self.nhid), weight.new_zeros(self.nlayers, bsz, self.nhid))


def repackage_hidden(h):
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage_hidden(v) for v in h)


words = torch.randint(0, NTOKENS, (400,))
words[1::2] = (words[::2] * 7 + 3) % NTOKENS  # something to learn
train_data = batchify(words, 8)
model = RNNModel(NTOKENS, args.emsize, args.nhid, args.nlayers).to(device)
criterion = nn.CrossEntropyLoss()
lr = 5.0

hidden = model.init_hidden(8)
for batch in range(3):
    data, targets = get_batch(train_data, batch * args.bptt)
    model.zero_grad()
    hidden = repackage_hidden(hidden)
    output, hidden = model(data, hidden)
    loss = criterion(output, targets)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip)
    with torch.no_grad():
        for p in model.parameters():
            p.add_(p.grad, alpha=-lr)
    print('step {:d} loss {:.8g}'.format(batch + 1, loss.item()))
print('perplexity {:.2f}'.format(math.exp(loss.item())))
