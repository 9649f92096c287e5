# SPDX-License-Identifier: Apache-2.0
"""O1: each listed function computes in the type of its list, and only while casts are on."""

import types

import pytest
import torch
import torch.nn.functional as F
from apex import amp

HALF, WIDE = torch.float16, torch.float32


@pytest.fixture
def casts():
    model = torch.nn.Linear(2, 2).npu()
    amp.initialize(model, opt_level="O1", verbosity=0)
    return model


def tensor(*shape, dtype=WIDE):
    return (torch.rand(*shape) + 0.1).to(dtype).npu()


HALVES = {
    "linear": lambda x: F.linear(x, x),
    "matmul": lambda x: torch.matmul(x, x),
    "operator @": lambda x: x @ x,
    "mm": lambda x: x.mm(x),
    "bmm": lambda x: torch.bmm(x[None], x[None]),
    "baddbmm": lambda x: torch.baddbmm(x[None], x[None], x[None]),
    "addmm": lambda x: torch.addmm(x, x, x),
    "mv": lambda x: x.mv(x[0]),
    "conv1d": lambda x: F.conv1d(x[None], x[:, :, None]),
    "conv2d": lambda x: torch.conv2d(x[None, None], x[None, None]),
    "conv_transpose2d": lambda x: F.conv_transpose2d(x[None, None], x[None, None]),
    "attention": lambda x: F.scaled_dot_product_attention(x[None, None], x[None, None], x[None, None]),
    "prelu": lambda x: F.prelu(x, x[0, :1]),
}
_NAMES = "exp", "log", "rsqrt", "sum", "std", "var", "norm", "prod"
WIDES = {name: (lambda x, name=name: getattr(torch, name)(x)) for name in _NAMES}
WIDES |= {
    "pow": lambda x: torch.pow(x, 2),
    "operator **": lambda x: x**2,
    "cumsum": lambda x: x.cumsum(0),
    "softmax": lambda x: F.softmax(x, -1),
    "log_softmax": lambda x: F.log_softmax(x, -1),
    "gelu": lambda x: F.gelu(x),
    "layer_norm": lambda x: F.layer_norm(x, (4,)),
    "normalize": lambda x: F.normalize(x),
    "mse_loss": lambda x: F.mse_loss(x, x),
    "cross_entropy": lambda x: F.cross_entropy(x, torch.tensor([0, 1, 2, 3]).npu()),
    "with logits": lambda x: F.binary_cross_entropy_with_logits(x, x),
    "cpu": lambda x: x.cpu(),
}
BOTH = {
    "add": lambda x, y: x + y,
    "mul": lambda x, y: torch.mul(x, y),
    "div": lambda x, y: x.div(y),
    "cat": lambda x, y: torch.cat([x, y]),
    "stack": lambda x, y: torch.stack((x, y)),
    "addcmul": lambda x, y: torch.addcmul(x, y, x),
    "dot": lambda x, y: torch.dot(x[0], y[0]),
    "atan2": lambda x, y: torch.atan2(x, y),
    "a scalar tensor": lambda x, y: x * y[0, 0],
}


@pytest.mark.parametrize("name", HALVES)
def test_half(casts, name):
    x = tensor(4, 4)
    assert HALVES[name](x).dtype == HALVES[name](x.half()).dtype == HALF
    assert HALVES[name](x.bfloat16()).dtype == torch.bfloat16
    assert HALVES[name](x.cpu()).dtype == WIDE, "tensors of the host are not cast"
    with amp.disable_casts():
        assert HALVES[name](x).dtype == WIDE
    assert HALVES[name](x).dtype == HALF


@pytest.mark.parametrize("name", WIDES)
def test_wide(casts, name):
    x = tensor(4, 4)
    assert WIDES[name](x).dtype == WIDES[name](x.half()).dtype == WIDE
    with amp.disable_casts():
        assert WIDES[name](x.half()).dtype == HALF


@pytest.mark.parametrize("name", BOTH)
def test_promotion(casts, name):
    x, y = tensor(4, 4, dtype=HALF), tensor(4, 4)
    assert BOTH[name](x, y).dtype == BOTH[name](y, x).dtype == BOTH[name](y, y).dtype == WIDE
    assert BOTH[name](x, x).dtype == HALF


def test_comparisons_and_what_is_written_in_place(casts):
    x, y = tensor(4, 4, dtype=HALF), tensor(4, 4)
    assert (x < y).dtype == torch.bool and torch.eq(x, x).all()
    x += y
    assert x.dtype == HALF and x.mul_(y).dtype == HALF
    y.addmm_(x, x)
    assert y.dtype == WIDE and y.exp_().dtype == WIDE
    with pytest.raises(NotImplementedError, match="exp_ in place on a half tensor"):
        x.exp_()
    with pytest.raises(NotImplementedError, match="__ipow__"):
        x **= 2
    out = tensor(4, 4, dtype=HALF)
    assert torch.exp(x, out=out) is out, "a given output is written, not a cast of it"


def test_binary_cross_entropy_is_banned_for_half(casts):
    x = tensor(4, 4).clamp(0.1, 0.9)
    assert F.binary_cross_entropy(x, x).dtype == WIDE
    with pytest.raises(NotImplementedError, match="binary_cross_entropy_with_logits"):
        F.binary_cross_entropy(x.half(), x)


@pytest.mark.parametrize("kind", [torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN])
def test_recurrent_layers(casts, kind):
    layer = kind(4, 4).npu()
    for dtype in (WIDE, HALF):
        out, _ = layer(tensor(3, 2, 4, dtype=dtype))
        assert out.dtype == HALF
    out.float().sum().backward()
    assert layer.weight_ih_l0.grad.dtype == WIDE and layer.weight_ih_l0.grad.abs().sum() > 0
    assert torch.nn.GRUCell(4, 4).npu()(tensor(2, 4)).dtype == HALF


def test_a_weight_is_cast_once_an_iteration(casts):
    optimizer = torch.optim.SGD(casts.parameters(), lr=0.1)
    _, optimizer = amp.initialize(casts, optimizer, loss_scale=128.0, verbosity=0)
    from apex.amp.state import STATE

    x = tensor(3, 2)
    loss = (casts(x) + casts(x)).float().sum()
    assert len(STATE.cached) == 2
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
    assert not STATE.cached
    assert casts.bias.grad.tolist() == [6.0, 6.0]
    with torch.no_grad():
        casts(x)
        casts.bias.add_(1)
    assert not STATE.cached, "without gradients nothing is kept"
    before = casts(x)
    with torch.no_grad():
        casts.bias.add_(1)
    assert (casts(x) - before).min() > 0.5, "a weight that was written is cast anew"


def test_decorated_and_registered_functions():
    seen = []

    def look(x, y=None):
        seen.append(x.dtype)
        return x

    place = types.SimpleNamespace(half=look, wide=look, both=lambda x, y: (x.dtype, y.dtype))
    amp.register_half_function(place, "half")
    amp.register_float_function(place, "wide")
    amp.register_promote_function(place, "both")
    with pytest.raises(ValueError, match="no function 'absent'"):
        amp.register_half_function(place, "absent")
    decorated = amp.half_function(look), amp.float_function(look)
    x = tensor(2)
    decorated[0](x)
    assert seen == [WIDE], "casts are off before initialize"
    amp.initialize(torch.nn.Linear(2, 2).npu(), verbosity=0)
    for function in (place.half, place.wide, *decorated):
        function(x.half()), function(x)
    assert seen[1:] == [HALF, HALF, WIDE, WIDE, HALF, HALF, WIDE, WIDE]
    assert place.both(x, x.half()) == (WIDE, WIDE) and place.both(x.half(), x.half()) == (HALF, HALF)
    assert amp.promote_function(place.both)(x, x.half()) == (WIDE, WIDE)


@pytest.mark.parametrize("preferred", [None, True])
def test_whose_cast_wins(preferred):
    amp.register_float_function(torch, "mm")
    amp.initialize(torch.nn.Linear(2, 2).npu(), verbosity=0, user_cast_preferred=preferred)
    x = tensor(2, 2)
    x[0, 0] = 1 / 3
    rounded = torch.mm(x, torch.eye(2).npu())[0, 0].item() != x[0, 0].item()
    assert torch.mm(x, x).dtype == WIDE and rounded is not bool(preferred)


def test_init_scales_and_casts():
    handle = amp.init()
    weight = torch.nn.Parameter(tensor(2, 2))
    optimizer = torch.optim.SGD([weight], lr=0.5)
    before = weight.detach().clone()
    with handle.scale_loss(0.01 * (weight @ tensor(2, 2)).sum(), optimizer) as scaled:
        scaled.backward()
    optimizer.step()
    assert handle.is_active() and not torch.equal(before, weight)
    with pytest.raises(NotImplementedError, match="wrap_optimizer is not built"):
        handle.wrap_optimizer(optimizer)


def test_a_later_initialize_without_casts_turns_them_off(casts):
    amp.initialize(torch.nn.Linear(2, 2).npu(), opt_level="O0", verbosity=0)
    x = tensor(2, 2)
    assert (x @ x).dtype == WIDE
