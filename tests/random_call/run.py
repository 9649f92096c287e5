# SPDX-License-Identifier: Apache-2.0
"""Random calls of PyTorch on the NPU against the CPU: python tests/random_call/run.py [--count 20000] [--first SEED]

A result counts as right when it has the CPU's shape and dtype, and lies as near to the same call in float64 as the
CPU's result does, or within what rounding of its type allows. A call that the CPU refuses must be refused; one that
only the NPU refuses needs a reason that EXPLAINED names. Failures are made smaller and printed as data, one line each.
"""

import argparse
import collections
import re
import sys

import generate
import torch
import torch_npu  # noqa: F401 - makes the device npu

EPS = {torch.float64: 2**-52, torch.float32: 2**-23, torch.float16: 2**-10, torch.bfloat16: 2**-7}
# Roundings of the largest magnitude that kernels may take beyond the CPU's error: a function's own few, and for sums
# those of another order of the terms.
ROUNDINGS = 4
EXPLAINED = {
    "the plug-in refuses": re.compile(r"ERR0\d{4} (PTA|OPS)|not support|Unsupported|unsupported"),
    "a type that its page does not list": re.compile(r"161002|does not take|which no operator"),
}


def compute(call, convert):
    op = generate.OPS[call["op"]]
    return op.compute(*[convert(generate.build(told)) for told in call["tensors"]], **call["args"])


def wide(x):
    return x.double() if x.is_floating_point() else x


def tried(call, convert):
    try:
        return compute(call, convert), None
    except Exception as error:  # noqa: BLE001 - whatever a client sees
        return None, f"{type(error).__name__}: {error}"


def wrong(call):
    """What is wrong with a call, with the reason known (EXPLAINED) or None; (None, None) when all is well."""
    got, refused = tried(call, lambda x: x.npu())
    wanted, cpu_refused = tried(call, lambda x: x)
    if refused:
        reason = next((why for why, text in EXPLAINED.items() if text.search(refused)), None)
        return (None, None) if cpu_refused else (f"refused: {refused.strip().splitlines()[0][:160]}", reason)
    if cpu_refused:  # the CPU has no kernel for a type that the NPU has
        lacks = "not implemented for" in cpu_refused
        return (None, None) if lacks else (f"the CPU refuses: {cpu_refused.splitlines()[0][:160]}", None)
    return differs(call, got.cpu(), wanted), None


def differs(call, got, wanted):
    if got.shape != wanted.shape or got.dtype != wanted.dtype:
        return f"{got.dtype} {tuple(got.shape)}, not {wanted.dtype} {tuple(wanted.shape)}"
    if torch.equal(got, wanted):
        return None
    if not got.is_floating_point():
        return f"{(got != wanted).sum().item()} of {got.numel()} whole numbers differ"
    exact = compute(call, wide)
    if not (exact.is_floating_point() and exact.shape == got.shape):
        exact = wanted
    exact, got, wanted = exact.double(), got.double(), wanted.double()
    special = ~torch.isfinite(wanted)
    if not torch.equal(torch.nan_to_num(got[special]), torch.nan_to_num(wanted[special])):
        return "other NaN or infinities"
    finite = ~special & torch.isfinite(exact)
    error, cpu = largest(got - exact, finite), largest(wanted - exact, finite)
    scale = largest(exact, finite)
    if generate.OPS[call["op"]].summed:
        terms, _ = tried(call, lambda x: wide(x).abs() if x.dtype != torch.bool else x)
        scale = max(scale, largest(terms, torch.isfinite(terms)) if terms is not None else 0)
    limit = 2 * cpu + ROUNDINGS * EPS[getattr(torch, call_type(call))] * scale
    return None if error <= limit else f"off by {error:.3g}, {error / max(limit, 1e-300):.1f} times the limit"


def largest(values, where):
    return values[where].abs().max().item() if where.any() else 0.0


def call_type(call):
    """The roughest type of its tensors."""
    types = [
        told["dtype"] for told in call["tensors"] if told["dtype"] in ("float64", "float32", "float16", "bfloat16")
    ]
    return max(types or ["float32"], key=lambda name: EPS[getattr(torch, name)])


def shrunk(call):
    """The smallest call found that is wrong in an unexplained way."""
    for less in generate.smaller(call):
        fault, reason = wrong(less)
        if fault and reason is None:
            return shrunk(less)
    return call


def run(first, count):
    """(calls by outcome, [(seed, smallest call, fault)])"""
    outcomes, faults = collections.Counter(), []
    for seed in range(first, first + count):
        call = generate.draw(seed)
        fault, reason = wrong(call)
        outcomes[reason or ("wrong" if fault else "right")] += 1
        if fault and reason is None:
            least = shrunk(call)
            faults.append((seed, least, wrong(least)[0]))
    return outcomes, faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    outcomes, faults = run(options.first, options.count)
    for seed, call, fault in faults:
        print(f"seed {seed}: {fault}\n  {call}")
    print(f"{options.count} calls: " + ", ".join(f"{n} {what}" for what, n in sorted(outcomes.items())))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
