# SPDX-License-Identifier: Apache-2.0
"""Cliffs: operators that are much slower for one dtype or layout than for their fastest dtype with the same bytes.

    python tests/bench/dtype_bench.py [--only WORD] [--limit 3] [--all] [--megabytes 8]

Each operator runs on tensors of the same number of bytes, in every dtype that it takes and in three layouts: dense,
transposed, and every second column. Printed is the time of a case divided by that of the operator's fastest dense case;
by default only cases above the limit. A case is the fastest of some runs, with the queue drained before and after."""

import argparse
import time

import torch
import torch_npu  # noqa: F401  registers the device

FLOATS = (torch.float32, torch.float16, torch.bfloat16)
INTEGERS = (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64)
NUMBERS = FLOATS + INTEGERS
ALL = (*NUMBERS, torch.bool)
LAYOUTS = ("dense", "transposed", "strided")
SECONDS = 0.15  # of a case at most, after its first run
RUNS = 7


# {name: (dtypes, function of a matrix)}; the matrix has as many columns as rows, nearly.
OPERATORS = {
    "add": (NUMBERS, lambda x: x + x),
    "sub": (NUMBERS, lambda x: x - x),
    "mul": (NUMBERS, lambda x: x * x),
    "div": (FLOATS, lambda x: x / x),
    "add scalar": (NUMBERS, lambda x: x + 1),
    "neg": (NUMBERS, lambda x: -x),
    "abs": (NUMBERS, torch.abs),
    "maximum": (NUMBERS, lambda x: torch.maximum(x, x)),
    "clamp": (NUMBERS, lambda x: x.clamp(1, 5)),
    "where": (ALL, lambda x: torch.where(x > 0, x, x)),
    "eq": (ALL, lambda x: x == x),
    "gt": (NUMBERS, lambda x: x > 1),
    "logical_not": (ALL, torch.logical_not),
    "bitwise_and": ((*INTEGERS, torch.bool), lambda x: x & x),
    "exp": (FLOATS, torch.exp),
    "log": (FLOATS, torch.log),
    "sqrt": (FLOATS, torch.sqrt),
    "tanh": (FLOATS, torch.tanh),
    "sigmoid": (FLOATS, torch.sigmoid),
    "gelu": (FLOATS, torch.nn.functional.gelu),
    "silu": (FLOATS, torch.nn.functional.silu),
    "relu": (FLOATS, torch.relu),
    "erf": (FLOATS, torch.erf),
    "pow 2": (FLOATS, lambda x: x.pow(2)),
    "pow 0.3": (FLOATS, lambda x: x.pow(0.3)),
    "sum": (NUMBERS, lambda x: x.sum()),
    "sum rows": (NUMBERS, lambda x: x.sum(1)),
    "sum columns": (NUMBERS, lambda x: x.sum(0)),
    "mean rows": (FLOATS, lambda x: x.mean(1)),
    "max rows": (NUMBERS, lambda x: x.max(1).values),
    "amax columns": (NUMBERS, lambda x: x.amax(0)),
    "argmax rows": (FLOATS, lambda x: x.argmax(1)),
    "any": (ALL, lambda x: x.any()),
    "cumsum rows": (NUMBERS, lambda x: x.cumsum(1)),
    "softmax": (FLOATS, lambda x: x.softmax(1)),
    "log_softmax": (FLOATS, lambda x: x.log_softmax(1)),
    "layer_norm": (FLOATS, lambda x: torch.nn.functional.layer_norm(x, x.shape[1:])),
    "rms_norm": (FLOATS, lambda x: torch.nn.functional.rms_norm(x, x.shape[1:])),
    "sort rows": (FLOATS, lambda x: x.sort(1).values),
    "topk": (FLOATS, lambda x: x.topk(5).values),
    "copy": (ALL, lambda x: x.clone()),
    "to float32": (ALL, lambda x: x.to(torch.float32)),
    "to float16": (ALL, lambda x: x.to(torch.float16)),
    "to int32": (ALL, lambda x: x.to(torch.int32)),
    "transpose": (ALL, lambda x: x.t().contiguous()),
    "cat": (ALL, lambda x: torch.cat([x, x], 1)),
    "stack": (ALL, lambda x: torch.stack([x, x], 1)),
    "flip": (ALL, lambda x: x.flip(1)),
    "roll": (ALL, lambda x: x.roll(3, 1)),
    "repeat": (ALL, lambda x: x.repeat(1, 2)),
    "index rows": (ALL, lambda x: x[torch.arange(0, x.shape[0], 3, device=x.device)]),
    "gather": (ALL, lambda x: x.gather(1, torch.zeros(x.shape, dtype=torch.int64, device=x.device))),
    "masked_fill": (ALL, lambda x: x.masked_fill(x > 0, 0)),
    "masked_select": (ALL, lambda x: x.masked_select(x > 0)),
    "nonzero": (ALL, torch.nonzero),
    "tril": (ALL, torch.tril),
    "fill": (ALL, lambda x: x.detach().fill_(1)),
    "linear, 1 row": (FLOATS, lambda x: torch.nn.functional.linear(x[:1], x)),
    "linear, 8 rows": (FLOATS, lambda x: torch.nn.functional.linear(x[:8], x)),
    "matmul, 1 row": (FLOATS, lambda x: x[:1, : x.shape[0]] @ x),
    "matvec": (FLOATS, lambda x: x @ x[0]),
}


def matrix(dtype, layout, size):
    """A matrix of about `size` bytes, of small positive numbers."""
    columns = 64 * max(1, round((size / dtype.itemsize) ** 0.5 / 64))
    rows = max(1, size // dtype.itemsize // columns)
    if layout == "transposed":
        rows, columns = columns, rows
    if layout == "strided":
        columns *= 2
    x = (torch.arange(rows * columns) % 7 + 1).reshape(rows, columns).to(dtype).npu()
    return {"dense": lambda: x, "transposed": lambda: x.t(), "strided": lambda: x[:, ::2]}[layout]()


def seconds(function, x):
    """The fastest run, None where the operator refuses the dtype, or returns its input."""
    try:
        if function(x) is x:
            return None
        torch.npu.synchronize()
    except (RuntimeError, TypeError):
        return None
    best, until = float("inf"), time.perf_counter() + SECONDS
    for _ in range(RUNS):
        begin = time.perf_counter()
        function(x)
        torch.npu.synchronize()
        best = min(best, (end := time.perf_counter()) - begin)
        if end > until:
            break
    return best


def cases(name, size):
    """{(dtype, layout): seconds} of an operator."""
    dtypes, function = OPERATORS[name]
    found = {}
    for layout in LAYOUTS:
        for dtype in dtypes:
            if (time_taken := seconds(function, matrix(dtype, layout, size))) is not None:
                found[dtype, layout] = time_taken
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="operators whose name holds this word")
    parser.add_argument("--limit", type=float, default=3, help="print cases this many times slower (default 3)")
    parser.add_argument("--all", action="store_true", help="print every case")
    parser.add_argument("--megabytes", type=float, default=8, help="of each tensor (default 8)")
    options = parser.parse_args()
    count = above = 0
    for name in OPERATORS:
        if options.only not in name:
            continue
        found = cases(name, int(options.megabytes * 2**20))
        fastest = min(time for (_, layout), time in found.items() if layout == "dense")
        for (dtype, layout), time_taken in found.items():
            ratio = time_taken / fastest
            count, above = count + 1, above + (ratio > options.limit)
            if options.all or ratio > options.limit:
                kind = str(dtype).removeprefix("torch.")
                print(f"{name:16} {kind:9} {layout:11} {1000 * time_taken:9.2f} ms {ratio:7.1f}x", flush=True)
    print(f"{count} cases, {above} above {options.limit:g}x")


if __name__ == "__main__":
    main()
