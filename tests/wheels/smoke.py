# SPDX-License-Identifier: Apache-2.0
"""What a user of any torch-npu wheel does in the first hour, against the CPU: 60 calls with their gradients, training
in float32 and with AMP, two ranks, weights that another version has written.

    python smoke.py FOLDER     writes weights-VERSION.pt there and reads what other versions have left

Prints `N of M` for each part, and a line for each failure. Runs in an environment without this checkout.
"""

import os
import sys
from pathlib import Path

import torch
import torch.nn.functional as F
import torch_npu
from torch import nn

FAILED = []


def part(name, cases):
    good = 0
    for case, run in cases:
        try:
            run()
            good += 1
        except Exception as error:  # noqa: BLE001 (whatever a client sees)
            FAILED.append(f"{name} {case}: {type(error).__name__}: {str(error).strip().splitlines()[0][:200]}")
    print(f"{name}: {good} of {len(cases)}", flush=True)


def rand(*shape, low=-1.0, high=1.0):
    return torch.rand(*shape, generator=GENERATOR) * (high - low) + low


GENERATOR = torch.Generator().manual_seed(3)
A, B, C = rand(6, 8), rand(6, 8), rand(8, 5)
P, IMAGE, LINE = rand(6, 8, low=0.2, high=2.0), rand(2, 3, 12, 12), rand(2, 3, 12)
ROWS, LABELS = torch.tensor([3, 0, 5, 3]), torch.tensor([1, 4, 0, 2, 2, 3])
FILTER, FILTER1, DEEP = rand(4, 3, 3, 3), rand(4, 3, 3), rand(3, 4, 3, 3)
HEADS = rand(2, 4, 6, 8)

# name: (function, arguments); floating arguments get gradients
CALLS = {
    "add": (lambda x, y: x + 2 * y, A, B),
    "mul": (lambda x, y: x * y, A, B),
    "div": (lambda x, y: x / y, A, P),
    "pow": (lambda x: x**2.5, P),
    "exp": (torch.exp, A),
    "log": (torch.log, P),
    "sqrt": (torch.sqrt, P),
    "rsqrt": (torch.rsqrt, P),
    "sin": (torch.sin, A),
    "tanh": (torch.tanh, A),
    "sigmoid": (torch.sigmoid, A),
    "abs": (torch.abs, A),
    "clamp": (lambda x: x.clamp(-0.5, 0.5), A),
    "maximum": (torch.maximum, A, B),
    "where": (lambda x, y: torch.where(x > y, x, y), A, B),
    "relu": (torch.relu, A),
    "gelu": (F.gelu, A),
    "silu": (F.silu, A),
    "elu": (F.elu, A),
    "leaky_relu": (lambda x: F.leaky_relu(x, 0.2), A),
    "hardswish": (F.hardswish, A),
    "softplus": (F.softplus, A),
    "softmax": (lambda x: x.softmax(-1), A),
    "log_softmax": (lambda x: x.log_softmax(0), A),
    "sum": (lambda x: x.sum(1), A),
    "mean": (lambda x: x.mean((0, 1)), A),
    "max": (lambda x: x.max(1)[0], A),
    "var": (lambda x: x.var(1), A),
    "norm": (lambda x: x.norm(dim=1), A),
    "cumsum": (lambda x: x.cumsum(1), A),
    "sort": (lambda x: x.sort(1)[0], A),
    "topk": (lambda x: x.topk(3, 1)[0], A),
    "mm": (torch.mm, A, C),
    "bmm": (lambda x, y: torch.bmm(x[0], y[0].transpose(1, 2)), HEADS, HEADS.flip(0)),
    "matmul": (lambda x, y: x @ y.transpose(-1, -2), HEADS, HEADS.flip(1)),
    "addmm": (lambda x, y: torch.addmm(x.new_ones(5), x, y), A, C),
    "linear": (lambda x, w: F.linear(x, w), A, C.t().contiguous()),
    "einsum": (lambda x, y: torch.einsum("ij,kj->ik", x, y), A, B),
    "conv2d": (lambda x, w: F.conv2d(x, w, padding=1), IMAGE, FILTER),
    "conv2d_stride": (lambda x, w: F.conv2d(x, w, stride=2), IMAGE, FILTER),
    "conv1d": (lambda x, w: F.conv1d(x, w), LINE, FILTER1),
    "conv_transpose2d": (lambda x, w: F.conv_transpose2d(x, w, stride=2), IMAGE, DEEP),
    "max_pool2d": (lambda x: F.max_pool2d(x, 2), IMAGE),
    "avg_pool2d": (lambda x: F.avg_pool2d(x, 3, stride=2, padding=1), IMAGE),
    "adaptive_avg_pool2d": (lambda x: F.adaptive_avg_pool2d(x, 1), IMAGE),
    "interpolate": (lambda x: F.interpolate(x, scale_factor=2, mode="nearest"), IMAGE),
    "bilinear": (lambda x: F.interpolate(x, size=(7, 9), mode="bilinear", align_corners=False), IMAGE),
    "batch_norm": (lambda x: F.batch_norm(x, None, None, training=True), IMAGE),
    "layer_norm": (lambda x: F.layer_norm(x, (8,)), A),
    "group_norm": (lambda x: F.group_norm(x, 3), IMAGE),
    "embedding": (lambda w, i: F.embedding(i, w), A, ROWS),
    "gather": (lambda x, i: x.gather(0, i[:, None].expand(4, 8)), A, ROWS),
    "index_select": (lambda x, i: x.index_select(0, i), A, ROWS),
    "index": (lambda x, i: x[i], A, ROWS),
    "cat": (lambda x, y: torch.cat([x, y.flip(1)], 1), A, B),
    "transpose": (lambda x: x.permute(0, 2, 3, 1).contiguous(), IMAGE),
    "pad": (lambda x: F.pad(x, (1, 2, 0, 1)), IMAGE),
    "cross_entropy": (lambda x, i: F.cross_entropy(x[:, :5], i), A, LABELS),
    "mse_loss": (F.mse_loss, A, B),
    "attention": (F.scaled_dot_product_attention, HEADS, HEADS.flip(0), HEADS.flip(1)),
}


def near(got, wanted, limit, what):
    """`limit` of the largest magnitude."""
    got, wanted = got.detach().cpu().double(), wanted.detach().double()
    assert got.shape == wanted.shape, f"{what} has shape {tuple(got.shape)}, not {tuple(wanted.shape)}"
    error = (got - wanted).abs().max().item() / max(wanted.abs().max().item(), 1e-30)
    assert error <= limit, f"{what} is off by {error:.1e} of the largest"


def call(function, *given):
    def compute(device, dtype):
        inputs = [x.to(dtype) if x.is_floating_point() else x for x in given]
        inputs = [x.to(device).requires_grad_(x.is_floating_point()) for x in inputs]
        out = function(*inputs)
        weights = torch.linspace(-1, 1, max(out.numel(), 2), dtype=torch.float64)[: out.numel()]
        (out * weights.reshape(out.shape).to(device, dtype)).sum().backward()
        return [out, *(x.grad for x in inputs if x.grad is not None)]

    def run():
        for got, wanted in zip(compute("npu", torch.float32), compute("cpu", torch.float64)):  # noqa: B905
            near(got, wanted, 2e-5, "result or gradient")

    return run


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.head = nn.Linear(8 * 36, 5)

    def forward(self, x):
        return self.head(F.max_pool2d(F.relu(self.norm(self.conv(x))), 2).flatten(1))


def train(device, amp=None, steps=5):
    torch.manual_seed(0)
    model = Net().to(device)
    x, y = rand_like_first(8, 3, 12, 12), torch.arange(8) % 5
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scaler = torch.npu.amp.GradScaler() if amp == torch.float16 else None
    for _ in range(steps):
        optimizer.zero_grad()
        with torch.autocast(device, amp or torch.bfloat16, enabled=amp is not None):
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
        if scaler:
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        else:
            loss.backward()
            optimizer.step()
    return model, loss


def rand_like_first(*shape):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(11))


def trains(amp, limit):
    def run():
        _, loss = train("npu", amp)
        _, wanted = train("cpu")
        near(loss, wanted, limit, "the loss after 5 steps")

    return run


def rank(index, port, folder):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port, RANK=str(index), WORLD_SIZE="2", LOCAL_RANK=str(index))
    import torch.distributed as dist

    torch.npu.set_device(index)
    dist.init_process_group("hccl", rank=index, world_size=2)
    torch.manual_seed(0)
    model = nn.parallel.DistributedDataParallel(nn.Linear(8, 5).to(f"npu:{index}"), device_ids=[index])
    x = rand_like_first(8, 8)[index * 4 : index * 4 + 4].to(f"npu:{index}")
    model(x).square().mean().backward()
    if index == 0:
        torch.save(model.module.weight.grad.cpu(), Path(folder) / "ddp.pt")
    dist.destroy_process_group()


def ranks(folder):
    def run():
        port = str(20000 + os.getpid() % 20000)
        torch.multiprocessing.spawn(rank, (port, folder), nprocs=2)
        torch.manual_seed(0)
        model = nn.Linear(8, 5)
        model(rand_like_first(8, 8)).square().mean().backward()
        near(torch.load(Path(folder) / "ddp.pt"), model.weight.grad, 2e-5, "the gradient of two ranks")

    return run


def trust_formats():
    """2.7.1 and 2.8.0 write a tensor with its format; later wheels read it where a script names what is in it safe."""
    if hasattr(torch_npu, "Format"):
        torch.serialization.add_safe_globals([torch_npu.Format, torch_npu.utils.storage._rebuild_npu_tensor])


def weights(folder):
    """Writes this version's, from the NPU; reads all that lie there, to the NPU."""
    trust_formats()
    path = Path(folder) / f"weights-{torch_npu.__version__}.pt"
    model, _ = train("npu")
    torch.save({"model": model.state_dict(), "out": model.eval()(rand_like_first(2, 3, 12, 12).npu()).cpu()}, path)

    def read(file):
        def run():
            kept = torch.load(file, map_location="npu")
            fresh = Net().npu().eval()
            fresh.load_state_dict(kept["model"])
            near(fresh(rand_like_first(2, 3, 12, 12).npu()), kept["out"].cpu(), 2e-5, "what the loaded weights compute")

        return run

    return [(file.stem, read(file)) for file in sorted(Path(folder).glob("weights-*.pt"))]


def main(folder):
    print(f"torch {torch.__version__}, torch-npu {torch_npu.__version__}, {torch.npu.get_device_name(0)}", flush=True)
    part("calls", [(name, call(*given)) for name, given in CALLS.items()])
    part(
        "training",
        [
            ("float32", trains(None, 1e-4)),
            ("bfloat16", trains(torch.bfloat16, 2e-2)),
            ("float16", trains(torch.float16, 2e-2)),
        ],
    )
    part("ranks", [("DDP on 2 ranks", ranks(folder))])
    part("weights", weights(folder))
    print("\n".join(FAILED))
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
