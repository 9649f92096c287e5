# SPDX-License-Identifier: Apache-2.0
"""The software NPU against torch CPU: the same calls through torch on both sides, the same threads, one process.

Prints for every case the median of `time on the CPU / time on the NPU` over alternating pairs with its quartiles
(above 1: the NPU is faster), the limit of this machine that the case stands under, measured in the same run, and the
share of it that each side reaches: see docs/speed.md.

python tests/bench/torch_bench.py [--pairs 9] [--only WORD] [--json FILE]
"""

import math
import os
import pathlib
import statistics
import subprocess
import sys
import time

import torch
import torch.nn.functional as F
from limit import Arithmetic, Traffic
from result import Results, arguments, quiet
from torch.utils.flop_counter import FlopCounterMode

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "end_to_end"))
import models  # noqa: E402
import step_models  # noqa: E402

MIN_SECONDS = 0.05


def sync(device):
    if device == "npu":
        torch.npu.synchronize()


def seconds(function, device, rounds):
    start = time.perf_counter()
    for _ in range(rounds):
        function()
    sync(device)
    return (time.perf_counter() - start) / rounds


def rounds_for(function, device):
    seconds(function, device, 2)
    return max(1, math.ceil(MIN_SECONDS / max(seconds(function, device, 1), 1e-7)))


def pairs(make, count):
    """Alternating timings: a list of (cpu, npu) seconds."""
    functions = {d: make(d) for d in ("cpu", "npu")}
    rounds = {d: rounds_for(f, d) for d, f in functions.items()}
    out = []
    for i in range(count):
        order = ("cpu", "npu") if i % 2 == 0 else ("npu", "cpu")
        taken = {}
        for d in order:
            quiet()
            taken[d] = seconds(functions[d], d, rounds[d])
        out.append((taken["cpu"], taken["npu"]))
    return out


DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


def gemm(m, k, n, name, transposed=False):
    dtype = DTYPES[name]

    def make(device):
        a = torch.randn(m, k).to(dtype).to(device)
        b = (torch.randn(n, k) if transposed else torch.randn(k, n)).to(dtype).to(device)
        return lambda: torch.mm(a, b.t() if transposed else b)

    return make, Arithmetic(name, 2 * m * k * n)


def conv(n, c, size, o, kernel, stride, name):
    """Forward and both gradients."""
    dtype = DTYPES[name]
    out = (size + 2 * (kernel // 2) - kernel) // stride + 1

    def make(device):
        x = torch.randn(n, c, size, size).to(dtype).to(device).requires_grad_()
        w = torch.randn(o, c, kernel, kernel).to(dtype).to(device).requires_grad_()
        g = torch.randn(n, o, out, out).to(dtype).to(device)
        return lambda: torch.autograd.grad(F.conv2d(x, w, stride=stride, padding=kernel // 2), (x, w), g)

    return make, Arithmetic(name, 3 * 2 * n * o * out * out * c * kernel * kernel)


def pointwise(function, shape):
    """Forward and backward of a function of one tensor: x is read and y written, then x and g read and dx written."""
    tensor = 4 * math.prod(shape)

    def make(device):
        x, g = torch.randn(shape).to(device).requires_grad_(), torch.randn(shape).to(device)
        f = function(device)
        return lambda: torch.autograd.grad(f(x), (x,), g)

    return make, Traffic(moved=5 * tensor, resident=4 * tensor)


def with_parameters(shape):
    def function(device):
        w, b = (torch.randn(shape).to(device).requires_grad_() for _ in range(2))
        return lambda x: F.layer_norm(x, shape, w, b)

    return function


def batch_norm(channels):
    def function(device):
        w, b, mean, var = (torch.ones(channels).to(device) for _ in range(4))
        return lambda x: F.batch_norm(x, mean, var, w.requires_grad_(), b.requires_grad_(), training=True)

    return function


def step(maker, batch, amp, counted=True):
    """One training step of a model; `counted` if torch counts its operations, which it does not of an LSTM, and wrongly
    of convolutions in groups."""

    def make(device):
        torch.manual_seed(0)
        model = maker().to(device)
        x, y = (t.to(device) for t in batch())
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

        def run():
            optimizer.zero_grad()
            with torch.autocast(device, dtype=torch.bfloat16, enabled=amp):
                loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()

        return run

    return make, Arithmetic("bf16" if amp else "fp32", operations(make("cpu"))) if counted else None


def operations(run):
    """Those of products and convolutions, forward and backward."""
    with FlopCounterMode(display=False) as counter:
        run()
    return counter.get_total_flops()


def cases():
    """(name, group, how to make a function for a device, its work)."""
    for m, k, n in ((1024, 1024, 1024), (512, 768, 3072), (4096, 768, 768), (2048, 2048, 2048)):
        yield f"GEMM fp32 {m}x{k}x{n}", "GEMM fp32", *gemm(m, k, n, "fp32")
        yield f"GEMM fp32 {m}x{k}x{n} transposed", "GEMM fp32", *gemm(m, k, n, "fp32", True)
    for dtype in ("bf16", "fp16"):
        for m, k, n in ((1024, 1024, 1024), (512, 768, 3072)):
            yield f"GEMM {dtype} {m}x{k}x{n}", f"GEMM {dtype}", *gemm(m, k, n, dtype)
    layers = ((8, 64, 56, 64, 3, 1), (8, 128, 28, 128, 3, 1), (8, 256, 56, 64, 1, 1), (8, 64, 56, 128, 3, 2))
    for layer in layers:
        yield "conv fp32 {}x{}x{}^2 to {}, {}x{}".format(*layer[:5], layer[4]), "conv fp32", *conv(*layer, "fp32")
    for dtype in ("bf16", "fp16"):
        yield f"conv {dtype} 8x64x56^2 to 64, 3x3", f"conv {dtype}", *conv(*layers[0], dtype)
    yield "batch norm 16x64x56^2", "rows", *pointwise(batch_norm(64), (16, 64, 56, 56))
    yield "layer norm 4096x768", "rows", *pointwise(with_parameters((768,)), (4096, 768))
    yield "softmax 12288x128", "rows", *pointwise(lambda _: lambda x: torch.softmax(x, -1), (12288, 128))
    yield "GELU 4096x768", "rows", *pointwise(lambda _: F.gelu, (4096, 768))
    for name, maker, batch, *counted in STEPS:
        for amp in (False, True):
            yield f"{name} step {'AMP bf16' if amp else 'fp32'}", "steps", *step(maker, batch, amp, *counted)


def images(count, size):
    return lambda: (torch.randn(count, 3, size, size), torch.randint(0, 10, (count,)))


def words(batch, length):
    return lambda: (torch.randint(0, 100, (batch, length)), torch.randint(0, 100, (batch, length)))


def sequences():
    return torch.randn(16, 64, 256), torch.randint(0, 10, (16,))


# (name, how to make the model, how to make a batch, False where operations are not counted)
STEPS = [
    ("ResNet-18", models.ResNet18, images(8, 128)),
    ("encoder", lambda: models.Encoder(width=256, heads=8), words(8, 128)),
    ("ResNet-50", step_models.ResNet50, images(4, 128)),
    ("MobileNetV3", step_models.MobileNetV3, images(16, 128), False),
    ("ViT", lambda: models.Vit(size=128, patch=16, width=256, heads=8, layers=4), images(16, 128)),
    ("GPT", lambda: models.Gpt(words=100, width=256, heads=8, layers=4, length=128), words(8, 128)),
    ("LSTM", step_models.Lstm, sequences, False),
]


def memory_peak(make):
    """Bytes that tensors take at most in a step on the NPU: parameters, gradients and what the backward pass keeps."""
    run = make("npu")
    run()
    torch.npu.synchronize()
    torch.npu.reset_peak_memory_stats()
    run()
    torch.npu.synchronize()
    return torch.npu.max_memory_allocated()


def small_calls(count):
    """Microseconds of a+b on 8x8."""
    times = pairs(lambda d: (lambda a, b: lambda: a + b)(*(torch.ones(8, 8).to(d) for _ in range(2))), count)
    cpu, npu = (statistics.median(t[i] for t in times) * 1e6 for i in (0, 1))
    low, middle, high = (q * 1e6 for q in statistics.quantiles([n - c for c, n in times], n=4))
    print(f"a+b on 8x8: CPU {cpu:.2f} us, NPU {npu:.2f} us, {middle:+.2f} us [{low:+.2f}, {high:+.2f}] "
          "(target: at most +1.5)")  # fmt: skip


def lstm():
    """A training step in which launching takes longer than computing; the loss of a small LSTM."""
    net = torch.nn.LSTM(16, 32).npu()
    x = torch.randn(12, 4, 16).npu()
    return net, lambda: net(x)[0].square().mean()


def perceptron():
    sizes = [16] * 8
    layers = [part for a, b in zip(sizes, sizes[1:], strict=False) for part in (torch.nn.Linear(a, b), torch.nn.Tanh())]
    net = torch.nn.Sequential(*layers).npu()
    x = torch.randn(8, 16).npu()
    return net, lambda: net(x).square().mean()


def replay(name, make, count):
    """A training step run line by line against the same step, captured in an NPUGraph and run again."""
    torch.manual_seed(0)
    net, loss_of = make()

    def step():
        loss_of().backward()
        with torch.no_grad():
            for p in net.parameters():
                p.sub_(0.01 * p.grad)
                p.grad.zero_()

    side = torch.npu.Stream()
    with torch.npu.stream(side):
        for _ in range(3):
            step()
    torch.npu.current_stream().wait_stream(side)
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        step()
    calls = (step, graph.replay)
    rounds = [rounds_for(call, "npu") for call in calls]
    times = []
    for i in range(count):
        taken = {k: seconds(calls[k], "npu", rounds[k]) for k in ((0, 1) if i % 2 == 0 else (1, 0))}
        times.append((taken[0], taken[1]))
    low, middle, high = statistics.quantiles([eager / again for eager, again in times], n=4)
    eager, again = (statistics.median(t[i] for t in times) * 1e6 for i in (0, 1))
    print(f"{name} step: eager {eager:.0f} us, NPUGraph.replay {again:.0f} us, {middle:.2f}x [{low:.2f}, {high:.2f}] "
          "(target: at least 2x)")  # fmt: skip


def load_time():
    """Seconds that loading our libraries takes, without torch."""
    import anynpu

    library = next(pathlib.Path(anynpu.__file__).parent.rglob("libanynpu.so"))
    path = os.environ.get("ANYNPU_LIBRARY", str(library))
    code = f"import ctypes, time; t = time.perf_counter(); ctypes.CDLL({path!r}); print(time.perf_counter() - t)"
    runs = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout) for _ in range(7)
    ]
    print(f"loading libanynpu.so: {statistics.median(runs):.3f} s (target: at most 0.2)")


def main():
    args = arguments(__doc__)
    results = Results("torch", torch.get_num_threads())
    for name, group, make, work in cases():
        if args.only in name:
            peak = memory_peak(make) if group == "steps" else None
            results.add(name, group, pairs(make, args.pairs), work, peak)
    results.close(args.json)
    small_calls(args.pairs)
    for name, make in (("LSTM", lstm), ("perceptron", perceptron)):
        replay(name, make, args.pairs)
    load_time()


if __name__ == "__main__":
    main()
