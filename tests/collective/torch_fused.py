# SPDX-License-Identifier: Apache-2.0
"""One rank of test_fused.py: torch_fused.py equal|order|refused|misfit [what]."""

import itertools
import os
import sys

import numpy
import torch
import torch.distributed as dist
import torch_npu
from fused_rank import name_of, near, tell_refusals, wide

RANK, SIZE = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
DTYPES = (torch.float16, torch.bfloat16)
SIZES = ((8, 5, 3), (4, 256, 64), (64, 300, 130), (260, 512, 96))  # m (divided by 4 ranks), k, n


def parts(*shape, dtype, salt):
    """What every rank has; all ranks know it."""
    generators = [torch.Generator().manual_seed(1000 * salt + rank) for rank in range(SIZE)]
    return [torch.randn(*shape, generator=generator).to(dtype) for generator in generators]


def same(label, got, want):
    assert torch.equal(got.cpu(), want.cpu()), f"{label}: other bits than the two calls"
    print("CASE", label, flush=True)


def inputs(m, k, n, dtype, turned, biased, salt):
    x1, x2 = parts(m, k, dtype=dtype, salt=salt), parts(k, n, dtype=dtype, salt=salt + 1)
    bias = parts(n, dtype=dtype, salt=salt + 2) if biased else [None] * SIZE
    own = x2[RANK].npu() if not turned else x2[RANK].t().contiguous().npu().t()
    return x1, x2, bias, x1[RANK].npu(), own, None if not biased else bias[RANK].npu()


def local(x1, x2, bias):
    return wide(x1) @ wide(x2) + (0 if bias is None else wide(bias))


def plain(x1, x2, bias):
    return x1 @ x2 if bias is None else torch.addmm(bias, x1, x2)


def all_reduced(group, case, label):
    x1, x2, bias, a, b, c = case
    got = torch_npu.npu_mm_all_reduce_base(a, b, group, reduce_op="sum", bias=c)
    sums = [local(*each) for each in zip(x1, x2, bias, strict=True)]
    near(label, got, sum(sums), sum(map(numpy.abs, sums)), SIZE + 1)
    want = plain(a, b, c)
    dist.all_reduce(want)
    same(label, got, want)


def three_axes(group, dtype, salt):
    """x1 [b, s, k], with x3 and a bias: rounded once, so it is not what two additions give."""
    x1, x2 = parts(3, 5, 48, dtype=dtype, salt=salt), parts(48, 20, dtype=dtype, salt=salt + 1)
    x3, bias = parts(3, 5, 20, dtype=dtype, salt=salt + 2), parts(20, dtype=dtype, salt=salt + 3)
    for mode, biased in itertools.product((None, "ai_cpu", "aiv"), (False, True)):
        given = {} if mode is None else {"comm_mode": mode}
        got = torch_npu.npu_mm_all_reduce_base(
            x1[RANK].npu(), x2[RANK].npu(), group, bias=bias[RANK].npu() if biased else None, x3=x3[RANK].npu(), **given
        )
        sums = [wide(x1[r]) @ wide(x2[r]) + wide(x3[r]) + (wide(bias[r]) if biased else 0) for r in range(SIZE)]
        label = f"all_reduce x3 {dtype} {mode} bias {biased}"
        near(label, got, sum(sums), sum(map(numpy.abs, sums)), SIZE + 1)
        print("CASE", label, flush=True)


def scattered(group, case, label, **mode):
    x1, x2, bias, a, b, c = case
    got = torch_npu.npu_mm_reduce_scatter_base(a, b, group, SIZE, reduce_op="sum", bias=c, **mode)
    sums = [local(*each) for each in zip(x1, x2, bias, strict=True)]
    rows = slice(RANK * got.shape[0], (RANK + 1) * got.shape[0])
    near(label, got, sum(sums)[rows], sum(map(numpy.abs, sums)), SIZE + 1)
    want = torch.empty_like(got)
    dist.reduce_scatter_tensor(want, plain(a, b, c))
    same(label, got, want)


def gathered(group, case, label, **mode):
    x1, x2, bias, a, b, c = case
    whole = torch.cat(x1)
    got, parts_got = torch_npu.npu_all_gather_base_mm(a, b, group, SIZE, bias=c, gather_index=0, **mode)
    want = local(whole, x2[RANK], bias[RANK])
    near(label, got, want, want, 2)
    assert torch.equal(parts_got.cpu(), whole), label
    alone, none = torch_npu.npu_all_gather_base_mm(a, b, group, SIZE, bias=c, gather_output=False, **mode)
    assert none.numel() == 0
    same(label + " alone", alone, got)
    same(label, got, plain(whole.npu(), b, c))


def equal():
    group = name_of(dist.group.WORLD)
    choices = itertools.product(SIZES, DTYPES, (False, True), (False, True))
    for number, ((m, k, n), dtype, turned, biased) in enumerate(choices):
        case = inputs(m, k, n, dtype, turned, biased, 10 * number)
        label = f"{m}x{k}x{n} {dtype} turned {turned} bias {biased}"
        all_reduced(group, case, f"all_reduce {label}")
        if SIZE == 3:
            continue
        for mode in ({}, {"comm_mode": "aiv"}):
            scattered(group, case, f"reduce_scatter {label} {mode}", **mode)
            gathered(group, case, f"all_gather {label} {mode}", **mode)
    for number, dtype in enumerate(DTYPES):
        three_axes(group, dtype, 5000 + 10 * number)


def order():
    """Calls of two groups, on two streams, between other collectives: every rank makes them in one order."""
    pairs = [dist.new_group([0, 1]), dist.new_group([2, 3])]
    mine = pairs[RANK // 2]
    small, whole = name_of(mine), name_of(dist.group.WORLD)
    assert small != whole
    side = torch.npu.Stream()
    x, w = torch.full((4, 8), RANK + 1.0).half().npu(), torch.ones(8, 4).half().npu()
    torch.npu.synchronize()
    pair_sum = sum(8 * (r + 1) for r in range(SIZE) if r // 2 == RANK // 2)
    for _ in range(20):
        a = torch_npu.npu_mm_all_reduce_base(x, w, whole)
        plain_sum = torch.ones(4).npu()
        dist.all_reduce(plain_sum)
        with torch.npu.stream(side):
            b = torch_npu.npu_mm_all_reduce_base(x, w, small)
            c, _ = torch_npu.npu_all_gather_base_mm(x, w, whole, SIZE)
        d = torch_npu.npu_mm_reduce_scatter_base(x, w, whole, SIZE)
        torch.npu.synchronize()
        assert (a.cpu() == 80).all() and (b.cpu() == pair_sum).all() and (d.cpu() == 80).all()
        assert (plain_sum.cpu() == SIZE).all()
        assert c.cpu()[:, 0].tolist() == [8.0 * (r // 4 + 1) for r in range(4 * SIZE)]
    print("ORDER kept", flush=True)


def refused():
    group = name_of(dist.group.WORLD)
    half = lambda *shape: torch.ones(*shape).half().npu()  # noqa: E731
    x, w = half(4, 8), half(8, 6)
    rows, columns = torch.ones(4, 1).npu(), torch.ones(1, 6).npu()
    reduce, gather = torch_npu.npu_mm_all_reduce_base, torch_npu.npu_all_gather_base_mm
    calls = {
        "unknown group": lambda: reduce(x, w, "nobody"),
        "another reduction": lambda: reduce(x, w, group, reduce_op="max"),
        "comm_turn": lambda: reduce(x, w, group, comm_turn=3),
        "comm_mode": lambda: reduce(x, w, group, comm_mode="tcp"),
        "float32": lambda: reduce(x.float(), w.float(), group),
        "gather_index": lambda: gather(x, w, group, SIZE, gather_index=1),
        "mixed types": lambda: reduce(x, w.bfloat16(), group),
        "bias": lambda: reduce(x, w, group, bias=half(5)),
        "quantised": lambda: gather(x.char(), w.char(), group, SIZE, x1_scale=rows, x2_scale=columns, comm_mode="aiv"),
        "scales": lambda: gather(x, w, group, SIZE, x1_scale=rows, comm_mode="aiv"),
    }
    tell_refusals(calls)
    # Nobody has come to a meeting, so the group still works.
    assert (reduce(x, w, group).cpu() == 8 * SIZE).all()
    dist.barrier()


def misfit(what):
    group = name_of(dist.group.WORLD)
    torch_npu.npu_mm_all_reduce_base(torch.ones(4, 8).half().npu(), torch.ones(8, 6).half().npu(), group)
    torch.npu.synchronize()
    other = RANK == 1
    if other and what == "gone":
        print("GONE", flush=True)
        os._exit(0)
    m, n = {"rows": (8, 6), "turned": (6, 4)}.get(what, (4, 6)) if other else (4, 6)
    dtype = torch.bfloat16 if other and what == "dtype" else torch.float16
    x, w = torch.ones(m, 8).to(dtype).npu(), torch.ones(8, n).to(dtype).npu()
    try:
        if other and what == "plain":
            dist.all_reduce(torch.ones(24).half().npu())
        else:
            torch_npu.npu_mm_all_reduce_base(x, w, group)
        torch.npu.synchronize()
    except RuntimeError as error:
        print("HEARD", " ".join(str(error).split()), flush=True)
    os._exit(0)  # the plug-in's watchdog would end the process, with another code


torch.npu.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("hccl")
{"equal": equal, "order": order, "refused": refused, "misfit": misfit}[sys.argv[1]](*sys.argv[2:])
dist.destroy_process_group()
