# SPDX-License-Identifier: Apache-2.0
"""x[i, :, m] read and written, for each dtype, with positions and masks on any axes: as on the CPU."""

import itertools

import pytest
import torch
import torch_npu  # noqa: F401

DTYPES = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool, torch.float32, torch.float16,
          torch.bfloat16]  # fmt: skip
SIZES = (4, 3, 5, 2)


def filled(shape, dtype, seed):
    drawn = torch.randint(0, 50, tuple(shape), generator=torch.Generator().manual_seed(seed))
    return drawn.to(dtype)


def positions(size, count):
    """`count` places, negative ones among them, none named twice."""
    return torch.tensor([(3 * k + 1) % size - (size if k % 2 else 0) for k in range(count)])


def lists(rank):
    """All combinations that index some of `rank` axes by two positions each, or by masks that hold at two places."""
    for kinds in itertools.product((None, "positions", "mask"), repeat=rank):
        if any(kinds):
            yield tuple(index(kind, SIZES[axis]) for axis, kind in enumerate(kinds))


def index(kind, size):
    if kind is None:
        return slice(None)
    return positions(size, 2) if kind == "positions" else torch.arange(size) % size < 2


def on_npu(indices):
    return tuple(one if isinstance(one, slice) else one.npu() for one in indices)


def values_for(selected):
    """A number, a tensor of the whole shape, one that is repeated along the first axis, one element."""
    yield 7
    yield filled(selected.shape, selected.dtype, 3)
    yield filled((1, *selected.shape[1:]), selected.dtype, 4)
    yield filled((1,), selected.dtype, 5)


def to_npu(value):
    return value.npu() if isinstance(value, torch.Tensor) else value


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_lists_of_positions_and_masks(rank, dtype):
    x = filled(SIZES[:rank], dtype, 1)
    for indices in lists(rank):
        there = on_npu(indices)
        assert torch.equal(x.npu()[there].cpu(), x[indices]), indices
        for value in values_for(x[indices]):
            want, got = x.clone(), x.npu()
            want[indices] = value
            got[there] = to_npu(value)
            assert torch.equal(got.cpu(), want), (indices, value)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.float32], ids=str)
@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_values_of_a_place_named_twice_are_added(rank, dtype):
    x = filled(SIZES[:rank], dtype, 1)
    for axis in range(rank):
        twice = (slice(None),) * axis + (torch.tensor([1, -1, 1]),)
        for value in values_for(x[twice]):
            given = value if isinstance(value, torch.Tensor) else torch.tensor(value, dtype=dtype)
            place = [None] * axis + [twice[axis]]
            want = torch.ops.aten.index_put(x, place, given, True)
            got = torch.ops.aten.index_put(x.npu(), [None] * axis + [twice[axis].npu()], given.npu(), True)
            assert torch.equal(got.cpu(), want), (axis, value)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_an_index_that_selects_nothing(dtype):
    nothing = torch.tensor([], dtype=torch.int64)
    x = filled(SIZES, dtype, 1)
    every = slice(None)
    for indices in [(nothing,), (every, nothing), (nothing, nothing), (every, nothing, every, nothing)]:
        there = on_npu(indices)
        assert x.npu()[there].shape == x[indices].shape
        for value in (7, filled(x[indices].shape, dtype, 3)):
            got = x.npu()
            got[there] = to_npu(value)
            assert torch.equal(got.cpu(), x), (indices, value)


SCALARS = {
    "gather": lambda x, i: torch.gather(x, 0, i),
    "take": torch.take,
    "index_select": lambda x, i: x.index_select(0, i),
    "index_add": lambda x, i: x.index_add(0, i, x[:1]),
    "index_copy": lambda x, i: x.index_copy(0, i, x[:1]),
    "index_fill": lambda x, i: x.index_fill(0, i, 7),
    "scatter": lambda x, i: x.scatter(0, i, x[1].clone()),
    "scatter of a number": lambda x, i: x.scatter(0, i, 7),
    "scatter_add": lambda x, i: x.scatter_add(0, i, x[1].clone()),
    "scatter_reduce": lambda x, i: x.scatter_reduce(0, i, x[1].clone(), "prod"),
    "index": lambda x, i: x[i],
    "put": lambda x, i: x.put(i, x[1].clone()),
}


@pytest.mark.parametrize("name", SCALARS)
def test_an_index_without_dimensions(name):
    x, i = torch.arange(5.0), torch.tensor(2)
    want, got = (SCALARS[name](t, at) for t, at in ((x, i), (x.npu(), i.npu())))
    assert got.shape == want.shape and torch.equal(got.cpu(), want)


@pytest.mark.parametrize("name", ["gather", "index_select", "scatter_add"])
def test_a_tensor_without_dimensions(name):
    x, i = torch.tensor(3.0), torch.tensor([0])
    act = {
        "gather": lambda x, i: torch.gather(x, 0, i),
        "index_select": lambda x, i: x.index_select(0, i),
        "scatter_add": lambda x, i: x.scatter_add(0, i, x.reshape(1)),
    }[name]
    want, got = act(x, i), act(x.npu(), i.npu())
    assert got.shape == want.shape and torch.equal(got.cpu(), want)


def test_gradient_of_a_gather_by_a_scalar():
    i, grads = torch.tensor(2), []
    for device in ("cpu", "npu"):
        x = torch.arange(5.0, device=device, requires_grad=True)
        torch.gather(x, 0, i.to(device)).backward()
        grads.append(x.grad.cpu())
    assert torch.equal(*grads)
