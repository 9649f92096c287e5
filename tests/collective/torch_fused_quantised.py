# SPDX-License-Identifier: Apache-2.0
"""One rank of test_fused_quantised.py: torch_fused_quantised.py scaled|way|exchange|refused."""

import itertools
import os
import sys

import numpy
import torch
import torch.distributed as dist
import torch_npu
from fused_rank import name_of, near, tell_refusals, wide

RANK, SIZE = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
HALVES = (torch.float16, torch.bfloat16)
CASTS = {True: lambda t: torch_npu.npu_format_cast(t.contiguous(), 29), False: lambda t: t}
reduce = torch_npu.npu_mm_all_reduce_base


def each(make, salt):
    """What every rank has; all ranks know it."""
    return [make(torch.Generator().manual_seed(1000 * salt + rank)) for rank in range(SIZE)]


def whole(shape, salt):
    return each(lambda g: torch.randint(-128, 128, shape, generator=g).to(torch.int8), salt)


def floats(shape, salt, dtype=torch.float32, low=0.5, high=2.0):
    return each(lambda g: (low + (high - low) * torch.rand(shape, generator=g)).to(dtype), salt)


def case(label, got, want, terms, roundings):
    near(label, got, want, terms, roundings)
    print("CASE", label, flush=True)


def own(tensors):
    return None if tensors is None else tensors[RANK].npu()


def part(x1, x2, bias, scale, rows, x3):
    sums = wide(x1) @ wide(x2) + (0 if bias is None else wide(bias))
    sums = sums * wide(scale) * (1 if rows is None else wide(rows).reshape(*x1.shape[:-1], 1))
    return sums + (0 if x3 is None else wide(x3))


def words(scales):
    """The same scales as npu_trans_quant_param writes them, and as the matrix unit reads those."""
    bits = [scale.view(torch.int32) & -8192 for scale in scales]
    return [bit.long() & 0xFFFFFFFF | 1 << 46 for bit in bits], [bit.view(torch.float32) for bit in bits]


def quantised(group, shape, columns, kind, turned, blocked, salt):
    """int8 by int8, with each way to scale it; bfloat16 where the scale is."""
    rows = int(numpy.prod(shape[:-1]))
    x1, x2 = whole(shape, salt), whole((shape[-1], columns), salt + 1)
    own_x2 = CASTS[blocked](own(x2).t().contiguous() if turned else own(x2))
    own_x2 = own_x2.t() if turned else own_x2
    bias = each(lambda g: torch.randint(-3000, 3000, (columns,), generator=g).int(), salt + 2)
    x3 = floats((*shape[:-1], columns), salt + 3, kind, -2, 2)
    by_token = floats((rows,), salt + 4)
    for b, t, x, one in itertools.product((None, bias), (None, by_token), (None, x3), (False, True)):
        scale = floats((1 if one else columns,), salt + 5, torch.float32, 1e-4, 3e-4)
        if kind == torch.bfloat16:
            scale = [s.bfloat16() for s in scale]
        given, read = words(scale) if kind == torch.float16 and t is None else (scale, scale)
        got = reduce(own(x1), own_x2, group, bias=own(b), dequant_scale=own(given), pertoken_scale=own(t), x3=own(x))
        assert got.dtype == kind
        rest = [b or [None] * SIZE, read, t or [None] * SIZE, x or [None] * SIZE]
        parts = [part(*one_rank) for one_rank in zip(x1, x2, *rest, strict=True)]
        label = f"{shape} {columns} {kind} turned {turned} blocked {blocked} bias {b is not None}"
        label += f" tokens {t is not None} x3 {x is not None} one {one}"
        case(label, got, sum(parts), sum(map(numpy.abs, parts)), SIZE + 1)


def on_the_way(group, kind, salt):
    """Parts, rounded to the result's type, are quantised again between ranks: off by one step in the middle of two."""
    x1, x2 = whole((12, 64), salt), whole((64, 40), salt + 1)
    scale = [s.bfloat16() if kind == torch.bfloat16 else s for s in floats((40,), salt + 2, torch.float32, 1e-4, 3e-4)]
    parts = [part(a, b, None, s, None, None) for a, b, s in zip(x1, x2, scale, strict=True)]
    parts = [wide(torch.from_numpy(p).to(kind)) for p in parts]
    reach = max(numpy.abs(p).max() for p in parts)
    # A few columns are cut: their scales are too small for the largest parts.
    there = (torch.linspace(0.7, 1.2, 40) * reach / 127).to(kind)
    back = (there.float() * SIZE * 0.6).to(kind)
    for shape in ((40,), (1, 40)):
        got = reduce(
            own(x1), own(x2), group, dequant_scale=own(scale), pertoken_scale=torch.ones(12).npu(),
            comm_quant_scale_1=there.reshape(shape).npu(), comm_quant_scale_2=back.reshape(shape).npu(),
        )  # fmt: skip
        s1, s2 = wide(there), wide(back)
        sent = [numpy.clip(numpy.rint(p / s1), -128, 127) for p in parts]
        want = numpy.clip(numpy.rint(sum(sent) * (s1 / s2)), -128, 127) * s2
        steps = numpy.abs(wide(got) - want) / s2
        assert (steps < 1.5).all() and (steps > 0.5).mean() < 0.01, f"{kind}: {steps.max()}, {(steps > 0.5).mean()}"
        assert len(numpy.unique(wide(got)[:, 0])) > 4
        print("CASE on the way", kind, shape, flush=True)
        gathered = [torch.empty_like(got) for _ in range(SIZE)]
        dist.all_gather(gathered, got)
        assert all(torch.equal(g.cpu(), got.cpu()) for g in gathered), "ranks have other bits"


def weights(group, shape, columns, kind, turned, blocked, salt):
    """Floats by int8, with scales for all, for columns, and for groups of rows."""
    inner = shape[-1]
    x1, x2 = floats(shape, salt, kind, -1, 1), whole((inner, columns), salt + 1)
    own_x2 = CASTS[blocked](own(x2).t().contiguous() if turned else own(x2))
    own_x2 = own_x2.t() if turned else own_x2
    grids = {(1,): 0, (columns,): 0, (1, columns): 0, (-(-inner // 32), columns): 32}
    bias, x3 = floats((columns,), salt + 2, kind, -2, 2), floats((*shape[:-1], columns), salt + 3, kind, -2, 2)
    for (grid, rows), shifted, biased, added, mode in itertools.product(
        grids.items(), (False, True), (False, True), (False, True), (None, "aiv")
    ):
        scale, offset = floats(grid, salt + 4, kind, 1e-3, 3e-3), floats(grid, salt + 5, kind, -3, 3)
        given = {} if mode is None else {"comm_mode": mode}
        got = reduce(
            own(x1), own_x2, group, antiquant_scale=own(scale), antiquant_offset=own(offset) if shifted else None,
            antiquant_group_size=rows, bias=own(bias) if biased else None, x3=own(x3) if added else None, **given,
        )  # fmt: skip
        parts = []
        for r in range(SIZE):
            spread = [
                numpy.repeat(wide(t[r]), 32, 0)[:inner] if rows else wide(t[r]).reshape(-1) for t in (scale, offset)
            ]
            value = wide(x1[r]) @ ((wide(x2[r]) + (spread[1] if shifted else 0)) * spread[0])
            parts.append(value + (wide(bias[r]) if biased else 0) + (wide(x3[r]) if added else 0))
        label = f"weight {shape} {columns} {kind} turned {turned} blocked {blocked} {grid} {shifted} {biased} {added}"
        case(f"{label} {mode}", got, sum(parts), sum(map(numpy.abs, parts)), SIZE + 1)


def exchanged(group, kind, rows, inner, columns, salt):
    """A product behind an all_to_all, and one before it."""
    x1, x2 = floats((rows, inner), salt, kind, -1, 1), floats((inner * SIZE, columns), salt + 1, kind, -1, 1)
    share = rows // SIZE
    mine = torch.cat([x[RANK * share : (RANK + 1) * share] for x in x1], 1)
    for bias_kind, kept, mode in itertools.product((None, kind, torch.float32), (False, True), (None, "ai_cpu")):
        given = {} if mode is None else {"comm_mode": mode}
        bias = None if bias_kind is None else floats((columns,), salt + 2, bias_kind, -2, 2)
        addend = 0 if bias is None else wide(bias[RANK])
        got, moved = torch_npu.npu_all_to_all_matmul(
            own(x1), own(x2), group, SIZE, bias=own(bias), all2all_axes=[-2, -1], all2all_out_flag=kept, **given
        )
        want = wide(mine) @ wide(x2[RANK]) + addend
        case(f"all_to_all_matmul {kind} {bias_kind} {kept} {mode}", got, want, want, 2)
        assert not kept or torch.equal(moved.cpu(), mine)
        w = [x[:inner] for x in x2]
        got = torch_npu.npu_matmul_all_to_all(own(x1), own(w), group, SIZE, bias=own(bias), **given)
        width = columns // SIZE
        products = [wide(x1[r]) @ wide(w[r]) + (0 if bias is None else wide(bias[r])) for r in range(SIZE)]
        want = numpy.concatenate([p[:, RANK * width : (RANK + 1) * width] for p in products])
        case(f"matmul_all_to_all {kind} {bias_kind} {mode}", got, want, want, 2)


def scaled(group):
    for number, (kind, turned, blocked) in enumerate(itertools.product(HALVES, (False, True), (False, True))):
        shape, columns = [((5, 40), 24), ((2, 3, 96), 48), ((260, 300), 272), ((1, 33), 8)][number % 4]
        quantised(group, shape, columns, kind, turned, blocked, 100 * number)
        weights(group, (2, 3, 96) if number % 2 else (5, 70), 48, kind, turned, blocked, 100 * number + 50)


def way(group):
    for number, kind in enumerate(HALVES):
        on_the_way(group, kind, 5000 + 10 * number)


def exchange(group):
    for number, kind in enumerate(HALVES):
        exchanged(group, kind, 8 * SIZE, 24, 16 * SIZE, 6000 + 10 * number)
        exchanged(group, kind, 4 * SIZE, 5, 3 * SIZE, 7000 + 10 * number)


def refused(group):
    x, w = torch.ones(4, 64).char().npu(), torch.ones(64, 6).char().npu()
    half, scale, one = x.half(), torch.ones(6).npu(), torch.ones(1).half().npu()
    to_all, from_all = torch_npu.npu_all_to_all_matmul, torch_npu.npu_matmul_all_to_all
    wf = w.half()
    calls = {
        "unknown group": lambda: reduce(x, w, "nobody", dequant_scale=scale),
        "no scale": lambda: reduce(x, w, group),
        "scale": lambda: reduce(x, w, group, dequant_scale=torch.ones(5).npu()),
        "scale's type": lambda: reduce(x, w, group, dequant_scale=scale.half()),
        "bias": lambda: reduce(x, w, group, dequant_scale=scale, bias=torch.ones(6).half().npu()),
        "comm_turn": lambda: reduce(x, w, group, dequant_scale=scale, comm_turn=1),
        "no antiquant_scale": lambda: reduce(half, w, group),
        "antiquant_scale": lambda: reduce(half, w, group, antiquant_scale=torch.ones(6).npu()),
        "offset": lambda: reduce(half, w, group, antiquant_scale=one, antiquant_offset=torch.ones(6).half().npu()),
        "group": lambda: reduce(half, w, group, antiquant_scale=one, antiquant_group_size=48),
        "axes": lambda: to_all(half, torch.ones(128, 6).half().npu(), group, SIZE, all2all_axes=[-1, -2]),
        "other axes": lambda: from_all(half, wf, group, SIZE, all2all_axes=[-2, -1]),
        "inner": lambda: to_all(half, wf, group, SIZE),
        "mixed": lambda: from_all(half, wf.bfloat16(), group, SIZE),
        "whole": lambda: from_all(x, w, group, SIZE),
    }
    tell_refusals(calls)
    # Nobody has come to a meeting, so the group still works.
    assert (reduce(x, w, group, dequant_scale=scale).cpu() == 64 * SIZE).all()
    dist.barrier()


torch.npu.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("hccl")
{"scaled": scaled, "way": way, "exchange": exchange, "refused": refused}[sys.argv[1]](name_of(dist.group.WORLD))
dist.destroy_process_group()
