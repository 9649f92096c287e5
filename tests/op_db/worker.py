# SPDX-License-Identifier: Apache-2.0
"""Runs torch's own operator database (op_db) on device npu against the CPU: one dtype, a list of operators.

A line of stdin names an operator and how many of its samples run. Prints one JSON line an operator before and after it
runs, so that a crash is blamed on the right one.
"""

import argparse
import json
import os
import sys
import tempfile

import torch
from torch.testing._internal.common_methods_invocations import op_db

# Nothing about numbers can be compared: uninitialised memory, random values, or host-only objects.
NOT_COMPARABLE = {
    "empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided", "bernoulli", "cauchy",
    "exponential", "geometric", "log_normal", "multinomial", "normal", "rand_like", "randint", "randint_like", "randn",
    "randn_like", "uniform", "nn.functional.alpha_dropout", "nn.functional.dropout", "nn.functional.dropout2d",
    "nn.functional.dropout3d", "nn.functional.feature_alpha_dropout", "nn.functional.rrelu", "torch.cuda.",
    "nn.functional.fractional_max_pool2d", "nn.functional.fractional_max_pool3d", "pca_lowrank", "svd_lowrank",
    "as_strided_scatter", "to_sparse", "nn.functional.scaled_dot_product_attention.dropout",
}  # fmt: skip
# Looser than bitwise because sums run in another order; torch's own device tests use the same numbers.
TOLERANCE = {
    torch.float32: {"rtol": 1e-4, "atol": 1e-5},
    torch.float16: {"rtol": 2e-3, "atol": 2e-3},
    torch.bfloat16: {"rtol": 1.6e-2, "atol": 1e-2},
}

# What a type's results are measured against where the CPU rounds too.
WIDER = {torch.float16: torch.float32, torch.bfloat16: torch.float32, torch.float32: torch.float64}


def tree(function, value):
    if isinstance(value, torch.Tensor):
        return function(value)
    if isinstance(value, (list, tuple)):
        made = [tree(function, v) for v in value]
        return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)
    if isinstance(value, dict):
        return {k: tree(function, v) for k, v in value.items()}
    return value


def moved(value, device):
    if isinstance(value, torch.device) or value == "cpu":
        return torch.device(device)
    return tree(lambda t: t.detach().to(device).requires_grad_(t.requires_grad), value)


def tensors(value):
    found = []
    tree(found.append, value)
    return found


def results(op, input_, args, kwargs, backward):
    out = op(input_, *args, **kwargs)
    outs = tensors(out)
    grads = []
    leaves = [t for t in tensors([input_, list(args), kwargs]) if t.requires_grad]
    scalars = [o for o in outs if o.requires_grad]
    if backward and leaves and scalars:
        total = sum((o.abs() if o.is_complex() else o).sum() for o in scalars)
        grads = torch.autograd.grad(total, leaves, allow_unused=True)
    return [o.detach() for o in outs], [g for g in grads if g is not None]


def widened(value, dtype):
    def wide(t):
        return t.to(WIDER[dtype]) if t.dtype == dtype else t

    return tree(lambda t: wide(t.detach()).requires_grad_(t.requires_grad), value)


def is_nearer(got, want, sample, op, backward, place):
    """Whether `got` is at least as near to the CPU's result in a wider type as `want`, its result in the same type, is:
    the CPU rounds some results twice, such as a transposed convolution before it adds the bias."""
    if got.shape != want.shape:
        return False
    parts = [widened(v, want.dtype) for v in (sample.input, list(sample.args), sample.kwargs)]
    outs, grads = results(op, *parts, backward)
    exact = (outs + grads)[place].double()
    return bool((got.double() - exact).abs().max() <= (want.double() - exact).abs().max())


def run_operator(op, dtype, samples):
    backward = op.supports_autograd and dtype.is_floating_point
    count = 0
    for sample in op.sample_inputs("cpu", dtype, requires_grad=backward):
        if count == samples:
            break
        if sample.kwargs.get("dropout_p", 0) > 0:
            continue  # random
        try:
            want, want_grads = results(op, sample.input, sample.args, sample.kwargs, backward)
        except Exception:
            continue  # the CPU refuses this sample itself
        parts = [moved(v, "npu") for v in (sample.input, list(sample.args), sample.kwargs)]
        got, got_grads = results(op, *parts, backward)
        tolerance = TOLERANCE.get(dtype, {"rtol": 0, "atol": 0})
        for place, (g, w) in enumerate(zip(got + got_grads, want + want_grads, strict=True)):
            options = tolerance if w.is_floating_point() or w.is_complex() else {"rtol": 0, "atol": 0}
            if (w.is_floating_point() or w.is_complex()) and not tolerance["rtol"]:
                options = TOLERANCE[torch.float32]
            try:
                torch.testing.assert_close(g.cpu(), w, equal_nan=True, check_dtype=False, **options)
            except AssertionError:
                if w.dtype not in WIDER or not is_nearer(g.cpu(), w, sample, op, backward, place):
                    raise
        count += 1
    return count


def full_name(op):
    return op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")


def comparable(op):
    return op.name not in NOT_COMPARABLE and full_name(op) not in NOT_COMPARABLE and not op.name.startswith("torch.")


def operators(dtype):
    return {full_name(op): op for op in op_db if comparable(op) and dtype in op.supported_dtypes("cpu")}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--names", nargs="+", help="print the operator names of these dtypes and stop")
    args = parser.parse_args()
    if args.names:
        print(json.dumps({name: sorted(operators(getattr(torch, name))) for name in args.names}))
        return
    dtype = getattr(torch, args.dtype)
    chosen = operators(dtype)
    # The vendor's plug-in tells of a fallback in C++ on stderr only.
    torch.set_warn_always(True)
    messages, path = tempfile.mkstemp(prefix="op_db_")
    os.unlink(path)
    os.dup2(messages, 2)
    for line in sys.stdin:
        name, samples = line.split()
        print(json.dumps({"start": name}), flush=True)
        start = os.lseek(messages, 0, os.SEEK_END)
        torch.manual_seed(0)  # the same samples whatever ran before
        try:
            done = run_operator(chosen[name], dtype, int(samples))
            outcome = {"ok": True, "samples": done}
        except Exception as error:  # any failure is a result here
            outcome = {"ok": False, "error": f"{type(error).__name__}: {str(error)[:400]}"}
        said = os.pread(messages, 1 << 20, start)
        outcome["fallback"] = b"fall back to run on the CPU" in said
        print(json.dumps({"end": name, **outcome}), flush=True)


if __name__ == "__main__":
    main()
