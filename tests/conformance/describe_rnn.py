# SPDX-License-Identifier: Apache-2.0
"""Cases of LSTM and GRU; the oracle is torch.nn in float64 and its autograd."""

import torch
from case import T, case

STEPS, BATCH, WIDTH, HIDDEN = 5, 3, 4, 6
TYPES = [torch.float32, torch.float16]


def parameters(gates, layers, directions):
    shapes = []
    for cell in range(layers * directions):
        width = WIDTH if cell < directions else HIDDEN * directions
        shapes += [(gates * HIDDEN, width), (gates * HIDDEN, HIDDEN), (gates * HIDDEN,), (gates * HIDDEN,)]
    return [T(*s, low=-0.5, high=0.5) for s in shapes]


def network(kind, params, layers, bidirectional, batch_first):
    net = kind(WIDTH, HIDDEN, layers, batch_first=batch_first, bidirectional=bidirectional).double()
    for own, given in zip(net.parameters(), params, strict=True):
        own.data = given.clone()
    return net


def cell_lstm(x, w_ih, w_hh, b_ih, b_hh, h, c):
    """One direction of one layer; returns the outputs of every step and what backward keeps."""
    kept = [[] for _ in range(7)]  # i, g, f, o, h, c, tanh(c)
    for step in x:
        i, f, g, o = (step @ w_ih.T + b_ih + h @ w_hh.T + b_hh).chunk(4, 1)
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        c = f * c + i * g
        h = o * c.tanh()
        for store, value in zip(kept, (i, g, f, o, h, c, c.tanh()), strict=True):
            store.append(value)
    return [torch.stack(k) for k in kept]


def cell_gru(x, w_ih, w_hh, b_ih, b_hh, h, _):
    kept = [[] for _ in range(5)]  # r, z, n, the hidden part of n, h
    for step in x:
        r, z, n = (step @ w_ih.T + b_ih).chunk(3, 1)
        hr, hz, hn = (h @ w_hh.T + b_hh).chunk(3, 1)
        r, z = (r + hr).sigmoid(), (z + hz).sigmoid()
        n = (n + r * hn).tanh()
        h = (1 - z) * n + z * h
        for store, value in zip(kept, (r, z, n, hn, h), strict=True):
            store.append(value)
    return [torch.stack(k) for k in kept]


def keep(cell, index, x, params, states, layers, directions):
    """The kept values of every cell, lists as the C interface has them. `index` is where h stands among them."""
    lists = None
    for layer in range(layers):
        sides = []
        for d in range(directions):
            at = layer * directions + d
            flip = (lambda t: t.flip(0)) if d else (lambda t: t)
            state = [s[at] for s in states] + [None]
            kept = [flip(k) for k in cell(flip(x), *params[4 * at : 4 * at + 4], *state[:2])]
            lists = [[] for _ in kept] if lists is None else lists
            for store, value in zip(lists, kept, strict=True):
                store.append(value)
            sides.append(kept[index])
        x = torch.cat(sides, -1)
    return x, lists


def sizes(layers, directions, batch_first):
    x = (BATCH, STEPS, WIDTH) if batch_first else (STEPS, BATCH, WIDTH)
    y = (*x[:2], HIDDEN * directions)
    return x, y, (layers * directions, BATCH, HIDDEN)


def options(layers, bidirectional, batch_first):
    return {"batch_sizes": None, "has_biases": True, "num_layers": layers, "dropout": 0.0, "train": True,
            "bidirectional": bidirectional, "batch_first": batch_first}  # fmt: skip


def steps_first(x, batch_first):
    return x.transpose(0, 1) if batch_first else x


def drawn(seed, shapes, parameters):
    """Inputs and weights of the forward run whose gradient is tested: the same in every process."""
    generator = torch.Generator().manual_seed(seed)
    shapes = [*shapes, *(p.shape for p in parameters)]
    numbers = [torch.rand(shape, generator=generator).double() - 0.5 for shape in shapes]
    count = len(shapes) - len(parameters)
    return numbers[:count], numbers[count:]


def gradients(net, made, weights, upper):
    """Gradients of the input, of each state, and of the weights as a list; `upper` are those of all results."""
    leaves = [t.clone().requires_grad_() for t in (*made, *weights)]
    states, given = leaves[1 : len(made)], leaves[len(made) :]
    parameters = dict(zip([n for n, _ in net.named_parameters()], given, strict=True))
    out, last = torch.func.functional_call(
        net, parameters, (leaves[0], tuple(states) if len(states) > 1 else states[0])
    )
    grads = torch.autograd.grad((out, *(last if len(states) > 1 else [last])), leaves, upper)
    return *grads[: len(made)], list(grads[len(made) :])


def lstm(layers, bidirectional, batch_first):
    directions = 2 if bidirectional else 1
    x, y, state = sizes(layers, directions, batch_first)
    common = options(layers, bidirectional, batch_first)
    own = parameters(4, layers, directions)

    def forward(input, params, hx):
        net = network(torch.nn.LSTM, params, layers, bidirectional, batch_first)
        with torch.no_grad():
            out, (h, c) = net(input, tuple(hx))
        _, lists = keep(cell_lstm, 4, steps_first(input, batch_first), params, hx, layers, directions)
        return out, h, c, *lists

    case("aclnnLSTM", forward, TYPES, layouts=("plain", "transposed"), input=T(*x), params=own,
         hx=[T(*state), T(*state)], **common)  # fmt: skip

    made, weights = drawn(5, (x, state, state), own)
    _, lists = keep(cell_lstm, 4, steps_first(made[0], batch_first), weights, made[1:], layers, directions)

    def backward(grad_y, grad_hy, grad_cy):
        net = network(torch.nn.LSTM, weights, layers, bidirectional, batch_first)
        return gradients(net, made, weights, (grad_y, grad_hy, grad_cy))

    names = ["i_list", "j_list", "f_list", "o_list", "h_list", "c_list", "tanhc_list"]
    case("aclnnLstmBackward", backward, [torch.float32], layouts=("plain", "transposed"),
         input=fixed(made[0]), hx=[fixed(made[1]), fixed(made[2])], params=[fixed(w) for w in weights],
         grad_y=T(*y), grad_hy=T(*state), grad_cy=T(*state), reserved=None,
         **{n: [fixed(t) for t in k] for n, k in zip(names, lists, strict=True)}, **common)  # fmt: skip


def gru(layers, bidirectional, batch_first):
    directions = 2 if bidirectional else 1
    x, y, state = sizes(layers, directions, batch_first)
    common = options(layers, bidirectional, batch_first)
    own = parameters(3, layers, directions)

    def forward(input, params, hx):
        net = network(torch.nn.GRU, params, layers, bidirectional, batch_first)
        with torch.no_grad():
            out, h = net(input, hx)
        _, lists = keep(cell_gru, 4, steps_first(input, batch_first), params, [hx], layers, directions)
        return out, h, *lists

    case("aclnnGRU", forward, TYPES, layouts=("plain", "transposed"), input=T(*x), params=own,
         hx=T(*state), **common)  # fmt: skip

    made, weights = drawn(6, (x, state), own)
    _, lists = keep(cell_gru, 4, steps_first(made[0], batch_first), weights, made[1:], layers, directions)

    def backward(grad_y, grad_hy):
        net = network(torch.nn.GRU, weights, layers, bidirectional, batch_first)
        return gradients(net, made, weights, (grad_y, grad_hy))

    del common["dropout"], common["train"]
    names = ["r_list", "z_list", "n_list", "hn_list", "h_list"]
    case("aclnnGRUBackward", backward, [torch.float32], layouts=("plain", "transposed"),
         input=fixed(made[0]), hx=fixed(made[1]), params=[fixed(w) for w in weights], grad_y=T(*y), grad_hy=T(*state),
         **{n: [fixed(t) for t in k] for n, k in zip(names, lists, strict=True)}, **common)  # fmt: skip


def fixed(tensor):
    """A given tensor, exact in float32."""
    return T(values=lambda _: tensor.detach().float())


for arguments in ((1, False, True), (1, False, False), (2, True, True)):
    lstm(*arguments)
    gru(*arguments)
