# SPDX-License-Identifier: Apache-2.0
"""What stands beside amp: fp16_utils, LARC, layer norm, combined tensors; and names that are not there."""

import importlib

import apex
import network
import pytest
import torch
import torch.nn.functional as F
from apex import fp16_utils, multi_tensor_apply, normalization, parallel
from apex.contrib import combine_tensors

HALF = torch.float16


def test_models_in_half():
    model = fp16_utils.network_to_half(network.made(network.Residual))
    assert model[1].first.weight.dtype == HALF and model[1].norm.weight.dtype == torch.float32
    model = fp16_utils.FP16Model(network.made(network.Residual))
    assert model(network.batch(network.Residual)[0]).dtype == HALF
    assert fp16_utils.convert_network(network.made(network.Residual), HALF).norm.running_var.dtype == torch.float32
    linear = torch.nn.Linear(2, 2)
    fp16_utils.convert_module(linear, HALF)
    assert linear.bias.dtype == HALF


@pytest.mark.parametrize("flat", [False, True])
def test_a_loop_with_masters_by_hand(flat):
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 1)).npu().half()
    weights, masters = fp16_utils.prep_param_lists(model, flat_master=flat)
    optimizer = torch.optim.SGD(masters, lr=0.1)
    before = [p.detach().clone() for p in weights]
    model(torch.ones(2, 4).npu().half()).sum().backward()
    fp16_utils.model_grads_to_master_grads(weights, masters, flat_master=flat)
    optimizer.step()
    fp16_utils.master_params_to_model_params(weights, masters, flat_master=flat)
    for old, new in zip(before, weights, strict=True):
        right = old.float() - 0.1 * new.grad.float()
        assert (new.float() - right).abs().max() <= 2**-10 * right.abs().max()
    with pytest.raises(RuntimeError, match="flat_master takes weights of one type"):
        fp16_utils.prep_param_lists(torch.nn.Sequential(model, torch.nn.Linear(1, 1).npu()), flat_master=True)


def half_trained(steps, state=None, **keywords):
    model = fp16_utils.FP16Model(network.made(network.Residual))
    optimizer = fp16_utils.FP16_Optimizer(torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), **keywords)
    if state:
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
    inputs, labels = network.batch(network.Residual)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(inputs).float(), labels)
        optimizer.backward(loss)
        optimizer.step()
        losses.append(loss.item())
    return losses, model, optimizer


def test_fp16_optimizer_trains_and_goes_on():
    losses, _, _ = half_trained(5, static_loss_scale=128.0)
    assert losses[4] < losses[0]
    _, model, optimizer = half_trained(3, static_loss_scale=128.0)
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    assert half_trained(2, state, static_loss_scale=128.0)[0] == losses[3:]
    assert optimizer.clip_master_grads(1e-3) > 0.01 and optimizer.loss_scale == 128.0
    norms = [grad.norm() for group in optimizer.inspect_master_grad_data() for grad in group]
    assert torch.stack(norms).norm().item() == pytest.approx(1e-3, rel=1e-2)


def test_fp16_optimizer_skips_overflows(capfd):
    _, model, optimizer = half_trained(1, dynamic_loss_scale=True, dynamic_loss_args={"init_scale": 64.0})
    before = model.network.first.weight.detach().clone()
    optimizer.backward(model(network.batch(network.Residual)[0]).sum() * float("inf"))
    optimizer.step()
    assert optimizer.overflow and optimizer.loss_scale == 32.0 and optimizer.clip_master_grads(1.0) == -1
    assert torch.equal(before, model.network.first.weight) and "overflowed" in capfd.readouterr().out
    with pytest.raises(NotImplementedError, match="closure is not built"):
        optimizer.step(lambda: 0)


def test_loss_scalers_by_hand():
    scaler = fp16_utils.DynamicLossScaler(init_scale=8.0, scale_window=2)
    weight = torch.nn.Parameter(torch.ones(2).npu())
    scales = []
    for factor in (1.0, float("inf"), 1.0, 1.0, 1.0):
        weight.grad = None
        scaler.backward((weight * factor).sum())
        scaler.update_scale(scaler.has_overflow([weight]))
        scales.append(scaler.loss_scale)
    assert scales == [8, 4, 4, 8, 8]
    assert fp16_utils.LossScaler(4).loss_scale == 4 and not fp16_utils.LossScaler(4).has_overflow([weight])


@pytest.mark.parametrize("clip", [True, False])
def test_larc(clip):
    start, grad = torch.randn(6, dtype=torch.float64), torch.randn(6, dtype=torch.float64)
    weight = torch.nn.Parameter(start.float().npu())
    optimizer = parallel.LARC(torch.optim.SGD([weight], lr=0.1, weight_decay=0.5), clip=clip)
    weight.grad = grad.float().npu()
    optimizer.step()
    rate = 0.02 * start.norm() / (grad.norm() + 0.5 * start.norm() + 1e-8)
    rate = min(rate / 0.1, 1) if clip else rate
    right = start - 0.1 * rate * (grad + 0.5 * start)
    assert (weight.detach().cpu() - right).abs().max() <= 1e-6 * right.abs().max()
    assert optimizer.param_groups[0]["weight_decay"] == 0.5


@pytest.mark.parametrize("level", ["O1", "O2"])
def test_larc_with_amp(level):
    model = network.made(network.Residual)
    optimizer = parallel.LARC(torch.optim.SGD(model.parameters(), lr=0.5))
    model, optimizer = apex.amp.initialize(model, optimizer, opt_level=level, loss_scale=128.0, verbosity=0)
    losses = [network.step(model, optimizer, *network.batch(network.Residual)) for _ in range(5)]
    assert losses[4] < losses[0]


def test_layer_norm():
    x = torch.randn(3, 4).npu()
    layer = normalization.FusedLayerNorm(4).npu()
    assert torch.equal(layer(x), F.layer_norm(x, (4,)))
    assert normalization.FusedLayerNorm(4, elementwise_affine=False).weight is None


def test_tensors_in_one_buffer():
    tensors = [torch.randn(3, 2).npu(), torch.randn(16).npu()]
    values = [t.clone() for t in tensors]
    flat = combine_tensors.combine_npu(tensors)
    assert flat.numel() == (16 + 32) * 2 and combine_tensors.is_combined_tensor_valid(flat, tensors)
    assert all(torch.equal(t, v) for t, v in zip(tensors, values, strict=True))
    flat.zero_()
    assert not tensors[0].any() and not tensors[1].any()
    assert torch.equal(combine_tensors.get_part_combined_tensor(flat, 48, 16), tensors[1])
    assert not combine_tensors.is_combined_tensor_valid(flat, values)
    assert combine_tensors.combine_npu([]) is None
    with pytest.raises(RuntimeError, match="of one type and device"):
        combine_tensors.combine_npu([tensors[0], tensors[1].half()])
    with pytest.raises(RuntimeError, match="outside of a buffer of 96"):
        combine_tensors.get_part_combined_tensor(flat, 90, 16)


def test_lists_of_tensors_reach_an_operation():
    found = multi_tensor_apply.multi_tensor_applier(lambda *arguments: arguments, None, [[1]], 2)
    assert found == (2048 * 32, None, [[1]], 2)
    with pytest.raises(NotImplementedError, match="amp_C's CUDA operations"):
        multi_tensor_apply.multi_tensor_applier(None, None, [])


@pytest.mark.parametrize(
    "name", ["RNN", "mlp", "transformer", "normalization.FusedRMSNorm", "optimizers.FusedLAMB", "parallel.multiproc"]
)
def test_what_is_not_there_names_itself(name):
    place, _, last = ("apex." + name).rpartition(".")
    with pytest.raises(NotImplementedError, match=f"{name} is not built in AnyNPU's apex: "):
        getattr(importlib.import_module(place), last)
    with pytest.raises(AttributeError, match="nothing is not built"):
        apex.nothing  # noqa: B018


@pytest.mark.parametrize("name", ["mlp", "normalization.FusedRMSNorm", "optimizers.FusedAdam", "parallel.multiproc"])
def test_libraries_find_out_what_is_not_there(name):
    """As DeepSpeed does, with hasattr, and transformers, with `except ImportError`; a person still reads our text."""
    place, _, last = ("apex." + name).rpartition(".")
    assert not hasattr(importlib.import_module(place), last)
    with pytest.raises(ImportError, match=f"{name} is not built in AnyNPU's apex: "):
        exec(f"from {place} import {last}")


@pytest.mark.parametrize(
    ("keywords", "kind"),
    [({"shared_param": True}, ValueError), ({"retain_allreduce_buffers": True}, NotImplementedError)],
)
def test_options_of_the_old_parallel_class(keywords, kind):
    with pytest.raises(kind, match=next(iter(keywords))):
        parallel.DistributedDataParallel(torch.nn.Linear(1, 1), **keywords)
