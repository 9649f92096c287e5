# SPDX-License-Identifier: Apache-2.0
"""Models train on device npu through the vendor's torch-npu wheel as they do on the CPU."""

import copy

import compare
import models
import movement
import pytest
import torch
import torch.nn.functional as F
import torch_npu  # noqa: F401, I001: registers the device

RUNS = [(name, "sgd") for name in models.MODELS] + [("mlp", o) for o in models.OPTIMIZERS if o != "sgd"]
RUNS += [("resnet18", "adam"), ("gpt", "adamw")]


@pytest.mark.promise("MLP, ResNet-18, Transformer encoder, GPT, ViT, LSTM and GRU train as on the CPU")
@pytest.mark.parametrize(("name", "optimizer"), RUNS, ids=lambda v: v)
def test_trains_like_the_cpu(name, optimizer):
    model, batches = models.make(name)
    make_optimizer = models.OPTIMIZERS[optimizer]
    compare.resynchronised(model, batches, make_optimizer)
    trained = compare.free_running(model, batches, make_optimizer)
    compare.evaluation(trained.cpu(), batches[0])


def _amp_step(model, optimizer, scaler, batch, device, dtype):
    x, y = batch
    optimizer.zero_grad()
    with torch.autocast(device, dtype=dtype, enabled=dtype is not None):
        loss = F.cross_entropy(model(x.to(device)), y.to(device))
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    return loss.item()


def _amp_tools(model, device, dtype):
    # A scale that does not overflow: a skipped first step would compare losses of different steps.
    scaler = torch.amp.GradScaler(device, init_scale=1024.0, enabled=dtype == torch.float16)
    return torch.optim.SGD(model.parameters(), lr=1e-3), scaler


def _amp_losses(name, dtype):
    model, batches = models.make(name)
    model = model.to("npu")
    tools = _amp_tools(model, "npu", dtype)
    return [_amp_step(model, *tools, batch, "npu", dtype) for batch in batches]


@pytest.mark.promise("AMP in fp16 and bf16")
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=["fp16", "bf16"])
@pytest.mark.parametrize("name", ["mlp", "resnet18", "encoder", "gpt", "vit"])
def test_mixed_precision_follows_fp32(name, dtype):
    for half, full in zip(_amp_losses(name, dtype), _amp_losses(name, None), strict=True):
        assert half == pytest.approx(full, rel=0.02)


def _amp_movements(name, ways):
    """How far each tensor of weights moves in 10 steps, for each of `ways` (device, dtype); the weights before a step
    are those of the first way."""
    model, batches = models.make(name)
    copies = [copy.deepcopy(model).to(device) for device, _ in ways]
    tools = [_amp_tools(one, *way) for one, way in zip(copies, ways, strict=True)]
    moved = [{n: 0.0 for n, _ in model.named_parameters()} for _ in ways]
    for batch in batches:
        before = copy.deepcopy(copies[0].state_dict())
        for one, way, tool, sums in zip(copies, ways, tools, moved, strict=True):
            one.load_state_dict(before)
            _amp_step(one, *tool, batch, *way)
            for n, weights in one.named_parameters():
                sums[n] = sums[n] + (weights.detach().cpu().double() - before[n].double()).numpy()
    return moved


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=["fp16", "bf16"])
@pytest.mark.parametrize("name", ["mlp", "resnet18", "encoder", "gpt", "vit"])
def test_mixed_precision_moves_the_weights_as_fp32(name, dtype):
    cpu, half, npu = _amp_movements(name, [("cpu", None), ("cpu", dtype), ("npu", dtype)])
    movement.assert_alike(npu, cpu, own=movement.apart(half, cpu)[0])


@pytest.mark.parametrize("name", ["mlp", "resnet18"])
def test_a_wrong_movement_is_told(name):
    """Of any tensor, also where a model rounds so badly that the CPU's own halves are 0.37 apart from its float32."""
    cpu, half, npu = _amp_movements(name, [("cpu", None), ("cpu", torch.bfloat16), ("npu", torch.bfloat16)])
    own = movement.apart(half, cpu)[0]
    halved = {n: a / 2 for n, a in npu.items()}
    planted = [npu | {n: factor * a} for n, a in npu.items() for factor in (0, -1)]
    for wrong in [halved, *planted]:
        with pytest.raises(AssertionError):
            movement.assert_alike(wrong, cpu, own)


@pytest.mark.promise("an overflow halves the loss scale and skips the step")
def test_overflow_halves_the_scale_and_skips_the_step():
    model = torch.nn.Linear(4, 4).npu()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("npu", init_scale=65536.0)
    before = copy.deepcopy({k: v.cpu() for k, v in model.state_dict().items()})
    loss = model(torch.full((2, 4), 1e30, device="npu")).sum() * 1e10
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 32768.0
    for name, value in model.state_dict().items():
        assert torch.equal(value.cpu(), before[name]), f"{name} changed although gradients overflowed"
    optimizer.zero_grad()
    scaler.scale(model(torch.ones(2, 4, device="npu")).sum()).backward()
    scaler.step(optimizer)
    assert not torch.equal(model.weight.cpu(), before["weight"])


@pytest.mark.promise("NpuFusedSGD, NpuFusedAdam and NpuFusedAdamW equal torch's")
@pytest.mark.parametrize(
    ("fused", "plain", "options"),
    [
        ("NpuFusedSGD", torch.optim.SGD, {"lr": 0.05, "momentum": 0.9, "weight_decay": 1e-4}),
        ("NpuFusedAdam", torch.optim.Adam, {"lr": 1e-3}),
        ("NpuFusedAdamW", torch.optim.AdamW, {"lr": 1e-3}),
    ],
)
def test_fused_optimizers_equal_torch(fused, plain, options):
    model, batches = models.make("mlp")
    reference, _ = compare.free_losses(model, batches, lambda p: plain(p, **options))
    ours, _ = compare.free_losses(model, batches, lambda p: getattr(torch_npu.optim, fused)(p, **options), "npu")
    assert ours == pytest.approx(reference, rel=1e-5)
