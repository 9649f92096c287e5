# SPDX-License-Identifier: Apache-2.0
"""Levels, scales, overflows and checkpoints of amp."""

import os
import random
import subprocess
import sys
from pathlib import Path

import network
import pytest
import torch
import torch.nn.functional as F
from apex import amp
from apex.optimizers import NpuFusedAdam, NpuFusedSGD


def initialized(kind=network.Residual, optimizer=torch.optim.SGD, seed=0, **keywords):
    model = network.made(kind, seed)
    return amp.initialize(model, optimizer(model.parameters(), lr=1e-2), **{"verbosity": 0, **keywords})


def with_torch_amp(kind, half):
    """Losses of five steps with torch's own mixed precision."""
    model = network.made(kind)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    scaler = torch.amp.GradScaler("npu", init_scale=128.0, enabled=half)
    inputs, labels = network.batch(kind)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        with torch.autocast("npu", dtype=torch.float16, enabled=half):
            loss = F.cross_entropy(model(inputs), labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize("keywords", [{}, {"loss_scale": 128.0}, {"combine_grad": True}], ids=str)
@pytest.mark.parametrize("level", ["O0", "O1", "O2", "O3"])
@pytest.mark.parametrize("kind", [network.Residual, network.Bert])
@pytest.mark.promise("apex.amp trains in O0 to O3 as torch.amp does")
def test_trains_as_with_torch_amp(kind, level, keywords):
    if "combine_grad" in keywords and level in ("O0", "O3"):
        pytest.skip("combine_grad goes with O1 and O2")
    right = with_torch_amp(kind, half=level != "O0")
    model, optimizer = initialized(kind, opt_level=level, **keywords)
    inputs, labels = network.batch(kind)
    losses = [network.step(model, optimizer, inputs, labels) for _ in range(5)]
    assert losses == pytest.approx(right, rel=1e-5 if level == "O0" else 0.02) and losses[4] < losses[0]


def test_the_types_of_a_level():
    types = {}
    for level in ("O0", "O1", "O2", "O3"):
        model, optimizer = initialized(opt_level=level)
        masters = {p.dtype for p in amp.master_params(optimizer)}
        types[level] = (model.first.weight.dtype, model.norm.weight.dtype, masters)
        assert {v.dtype for v in model.state_dict().values() if v.is_floating_point()} == {torch.float32}
        assert model(network.batch(network.Residual)[0]).dtype == (torch.float16 if level == "O1" else torch.float32)
    half, wide = torch.float16, torch.float32
    assert types["O0"] == types["O1"] == (wide, wide, {wide})
    assert types["O2"] == (half, wide, {wide}) and types["O3"] == (half, half, {half})


def test_the_guides_example_as_written():
    model = network.made(network.Residual)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    inputs, labels = network.batch(network.Residual)
    criterion = torch.nn.CrossEntropyLoss().npu()
    model, optimizer = amp.initialize(model, optimizer, combine_grad=True)
    losses = []
    for _ in range(4):
        loss = criterion(model(inputs), labels)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses == sorted(losses, reverse=True) and amp.state_dict()["loss_scaler0"]["unskipped"] == 4


@pytest.mark.parametrize("combine", [False, True])
@pytest.mark.parametrize("level", ["O1", "O2"])
@pytest.mark.promise("an overflow in apex.amp halves the scale, skips the step and keeps the state")
def test_an_overflow_skips_the_step(level, combine, capfd):
    model, optimizer = initialized(optimizer=NpuFusedAdam, opt_level=level, combine_grad=combine, verbosity=1)
    inputs, labels = network.batch(network.Residual)
    network.step(model, optimizer, inputs, labels)
    before = [p.detach().clone() for p in model.parameters()]
    moments = [s["exp_avg"].clone() for s in optimizer.state.values()]
    with amp.scale_loss(F.cross_entropy(model(inputs), labels), optimizer) as scaled:
        (scaled * float("inf")).backward()
    optimizer.step()
    assert amp.state_dict() == {"loss_scaler0": {"loss_scale": 2.0**15, "unskipped": 0}}
    assert all(torch.equal(old, new) for old, new in zip(before, model.parameters(), strict=True))
    assert all(torch.equal(old, s["exp_avg"]) for old, s in zip(moments, optimizer.state.values(), strict=True))
    assert "overflowed" in capfd.readouterr().out
    optimizer.zero_grad()
    network.step(model, optimizer, inputs, labels)
    assert amp.state_dict()["loss_scaler0"]["unskipped"] == 1
    assert not torch.equal(before[0], model.first.weight)


_SATURATING = """
import network, torch
from apex import amp
for level in ("O1", "O2"):
    model = torch.nn.Linear(4, 4).npu()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level=level, verbosity=0, dynamic_init_scale=256.0)
    for factor in (1.0, 1e6, 1.0):
        before = model.weight.detach().clone()
        with amp.scale_loss((model(torch.ones(3, 4).npu()).float() * factor).mean(), optimizer) as scaled:
            scaled.backward()
        assert model.weight.grad.isfinite().all()
        optimizer.step()
        optimizer.zero_grad()
        assert torch.equal(before, model.weight) == (factor > 1)
    assert amp.state_dict()["loss_scaler0"] == {"loss_scale": 128.0, "unskipped": 1}
"""


def test_an_npu_that_saturates_tells_overflows_by_its_flag():
    places = [str(Path(__file__).parent), str(Path(__file__).parents[2] / "adapters/apex")]
    env = {**os.environ, "ANYNPU_SOC": "Ascend910A", "PYTHONPATH": os.pathsep.join(places)}
    done = subprocess.run([sys.executable, "-c", _SATURATING], env=env, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr


def test_the_scale_follows_its_keywords():
    keywords = {"dynamic_init_scale": 64.0, "scale_growth_factor": 4.0, "scale_backoff_factor": 0.25}
    keywords |= {"scale_window": 2, "min_loss_scale": 8.0, "max_loss_scale": 512.0}
    weight = torch.nn.Parameter(torch.ones(2).npu())
    model, optimizer = amp.initialize(
        torch.nn.ParameterList([weight]), torch.optim.SGD([weight], lr=0.1), verbosity=0, **keywords
    )
    scales = []
    for factor in (1, 1, 1, 1, 1, 1, float("nan"), float("inf"), float("inf"), 1, 1):
        with amp.scale_loss((weight * factor).sum(), optimizer) as scaled:
            scaled.backward()
        optimizer.step()
        optimizer.zero_grad()
        scales.append(amp.state_dict()["loss_scaler0"]["loss_scale"])
    assert scales == [64, 256, 256, 512, 512, 512, 128, 32, 8, 8, 32]


def test_gradients_add_up_over_backwards():
    for level in ("O1", "O2"):
        for combine in (False, True):
            for delay in (False, True):
                model, optimizer = initialized(opt_level=level, combine_grad=combine)
                inputs, labels = network.batch(network.Residual)
                model.eval()
                for part in range(3):
                    loss = F.cross_entropy(model(inputs[part::3]), labels[part::3])
                    with amp.scale_loss(loss, optimizer, delay_unscale=delay and part < 2) as scaled:
                        scaled.backward()
                found = [p.grad.clone() for p in amp.master_params(optimizer)]
                plain = network.made(network.Residual).eval()
                sum(F.cross_entropy(plain(inputs[k::3]).float(), labels[k::3]) for k in range(3)).backward()
                for grad, right in zip(found, plain.parameters(), strict=True):
                    assert (grad - right.grad).abs().max() <= 0.02 * right.grad.abs().max() + 1e-3


def test_several_models_optimizers_and_losses():
    models = [network.made(network.Residual, seed) for seed in (0, 1)]
    optimizers = [torch.optim.SGD(m.parameters(), lr=1e-2) for m in models]
    (one, two), made = amp.initialize(models, optimizers, opt_level="O2", num_losses=2, verbosity=0)
    assert isinstance(made, list) and one is models[0]
    inputs, labels = network.batch(network.Residual)
    before = one.first.weight.detach().clone(), two.first.weight.detach().clone()
    with amp.scale_loss(F.cross_entropy(one(inputs), labels), made[0], loss_id=0) as scaled:
        scaled.backward()
    with amp.scale_loss(F.cross_entropy(two(inputs), labels) * float("nan"), made[1], loss_id=1) as scaled:
        scaled.backward()
    for optimizer in made:
        optimizer.step()
    state = amp.state_dict()
    assert list(state) == ["loss_scaler0", "loss_scaler1"]
    assert [state[name]["loss_scale"] for name in state] == [2.0**16, 2.0**15]
    assert not torch.equal(before[0], one.first.weight) and torch.equal(before[1], two.first.weight)
    with amp.scale_loss(F.cross_entropy(one(inputs) + two(inputs), labels), made) as scaled:
        scaled.backward()
    with pytest.raises(ValueError, match="loss_id is 2"), amp.scale_loss(inputs.sum(), made, loss_id=2):
        pass


@pytest.mark.parametrize("level", ["O1", "O2"])
@pytest.mark.promise("training with apex.amp goes on bit by bit from a checkpoint")
def test_training_goes_on_from_a_checkpoint(level, tmp_path):
    inputs, labels = network.batch(network.Residual)
    model, optimizer = initialized(optimizer=NpuFusedAdam, opt_level=level)
    for _ in range(2):
        network.step(model, optimizer, inputs, labels)
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "amp": amp.state_dict()}
    torch.save(state, tmp_path / "checkpoint")
    right = [network.step(model, optimizer, inputs, labels) for _ in range(3)]
    model, optimizer = initialized(optimizer=NpuFusedAdam, seed=5, opt_level=level)
    saved = torch.load(tmp_path / "checkpoint")
    for loaded, name in ((model, "model"), (optimizer, "optimizer"), (amp, "amp")):
        loaded.load_state_dict(saved[name])
    assert amp.state_dict()["loss_scaler0"] == {"loss_scale": 2.0**16, "unskipped": 2}
    assert [network.step(model, optimizer, inputs, labels) for _ in range(3)] == right


def test_a_foreign_state_is_refused():
    initialized()
    with pytest.raises(RuntimeError, match="it has the keys model"):
        amp.load_state_dict({"model": 1})
    with pytest.warns(UserWarning, match="2 loss scalers, initialize made 1"):
        amp.load_state_dict({f"loss_scaler{i}": {"loss_scale": 4.0, "unskipped": 3} for i in (0, 1)})
    assert amp.state_dict()["loss_scaler0"]["loss_scale"] == 4.0


@pytest.mark.parametrize(
    ("keywords", "kind", "text"),
    [
        ({"opt_level": "00"}, RuntimeError, "the letter O"),
        ({"cast_model_type": torch.float16}, RuntimeError, "cast_model_type must be None or torch.float32 with O1"),
        ({"keep_batchnorm_fp32": True}, RuntimeError, "keep_batchnorm_fp32 cannot be set with O1"),
        ({"master_weights": "False"}, RuntimeError, "master_weights cannot be set with O1"),
        ({"opt_level": "O2", "keep_batchnorm_fp32": "yes"}, TypeError, "keep_batchnorm_fp32 is 'yes'"),
        ({"opt_level": "O2", "patch_torch_functions": True}, RuntimeError, "goes with O1 only, not with O2"),
        ({"opt_level": "O2", "user_cast_preferred": True}, RuntimeError, "user_cast_preferred goes with O1"),
        ({"opt_level": "O0", "combine_grad": True}, RuntimeError, "combine_grad goes with O1 and O2"),
        ({"opt_level": "O3", "check_combined_tensors": True}, RuntimeError, "check_combined_tensors goes with O1"),
        ({"combine_ddp": True, "combine_grad": False}, RuntimeError, "combine_ddp needs combine_grad"),
        ({"combine_ddp": True}, RuntimeError, "init_process_group"),
        ({"loss_scale": "fast"}, ValueError, "loss_scale is 'fast'"),
        ({"num_losses": 0}, ValueError, "num_losses is 0"),
        ({"scale_backoff_factor": 1.5}, ValueError, "scale_backoff_factor is 1.5; it must be below 1"),
        ({"scale_growth_factor": 1}, ValueError, "scale_growth_factor is 1; it must be above 1"),
        ({"scale_window": 1.5}, TypeError, "scale_window is 1.5; it takes a whole number"),
        ({"min_loss_scale": 8.0, "max_loss_scale": 4.0}, ValueError, "min_loss_scale 8.0 is above"),
        ({"cast_model_outputs": torch.int32}, TypeError, "cast_model_outputs is torch.int32"),
    ],
)
def test_options_that_do_not_go_together(keywords, kind, text):
    with pytest.raises(kind, match=text):
        initialized(**keywords)


def test_wrong_models_and_optimizers():
    model = network.made(network.Residual)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with pytest.raises(RuntimeError, match="first.weight is torch.float16 on npu:0"):
        amp.initialize(network.made(network.Residual).half())
    with pytest.raises(RuntimeError, match="first.weight is torch.float32 on cpu.*model.npu"):
        amp.initialize(network.Residual())
    with pytest.raises(TypeError, match="models holds a int"):
        amp.initialize([3])
    with pytest.raises(TypeError, match="optimizers holds a str"):
        amp.initialize(model, "sgd")
    with pytest.raises(RuntimeError, match="call amp.initialize first"), amp.scale_loss(torch.ones(1), optimizer):
        pass
    amp.initialize(model, optimizer, verbosity=0)
    with pytest.raises(RuntimeError, match="has been through initialize already"):
        amp.initialize(model, optimizer, verbosity=0)
    other = torch.optim.SGD(model.parameters(), lr=0.1)
    with pytest.raises(RuntimeError, match="has not been through"), amp.scale_loss(torch.ones(1).npu(), other):
        pass
    with pytest.raises(RuntimeError, match="does not support a closure"):
        optimizer.step(lambda: 0)


def test_minus_one_is_a_scale_like_any_other():
    initialized(loss_scale=-1)
    assert amp.state_dict()["loss_scaler0"]["loss_scale"] == -1.0


def test_disabled_amp_changes_nothing():
    model = network.made(network.Residual)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    assert amp.initialize(model, optimizer, enabled=False, opt_level="nonsense") == (model, optimizer)
    loss = torch.ones(1).npu()
    with amp.scale_loss(loss, optimizer) as scaled:
        assert scaled is loss
    assert amp.initialize(model, enabled=False) is model and model.first.weight.dtype == torch.float32


def test_combined_gradients_stay_in_their_buffer():
    model, optimizer = initialized(combine_grad=True, check_combined_tensors=True)
    inputs, labels = network.batch(network.Residual)
    network.step(model, optimizer, inputs, labels)
    (flat,) = optimizer._amp_stash.flats
    first = model.first.weight.grad
    assert first.data_ptr() == flat.flat.data_ptr() and model.first.bias.grad.data_ptr() > first.data_ptr()
    for zero in (optimizer.zero_grad, model.zero_grad):
        network.step(model, optimizer, inputs, labels)
        zero()
        assert model.first.weight.grad.data_ptr() == flat.flat.data_ptr() and not flat.flat.any()
        with pytest.raises(ValueError, match="set_to_none"):
            zero(set_to_none=True)
    model.first.weight.grad = None
    with pytest.raises(RuntimeError, match="check_combined_tensors: a gradient is no longer part"):
        network.step(model, optimizer, inputs, labels)


@pytest.mark.parametrize("combine", [False, True])
@pytest.mark.parametrize("level", ["O1", "O2"])
def test_a_model_clears_its_own_gradients_alone(level, combine):
    models = [network.made(network.Residual, seed) for seed in (0, 1)]
    optimizer = torch.optim.SGD([p for model in models for p in model.parameters()], lr=1e-2)
    models, optimizer = amp.initialize(models, optimizer, opt_level=level, combine_grad=combine, verbosity=0)
    inputs, labels = network.batch(network.Residual)
    masters = list(amp.master_params(optimizer))
    found = []
    for _ in range(2):
        loss = F.cross_entropy(models[0](inputs) + models[1](inputs), labels)
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        found.append([master.grad.clone() for master in masters])
        models[0].zero_grad()
    half = len(masters) // 2
    for index, (once, twice) in enumerate(zip(*found, strict=True)):
        times = 1 if index < half else 2
        assert (twice - times * once).abs().max() <= 0.01 * once.abs().max() + 1e-4, index


def test_a_weight_that_learns_later_is_not_lost():
    one, two = (torch.nn.Parameter(torch.ones(3).npu()) for _ in range(2))
    model = torch.nn.ParameterList([one, two])
    model, optimizer = amp.initialize(model, NpuFusedSGD([one, two], lr=0.5), combine_grad=True, verbosity=0)
    for uses_both in (False, True):
        optimizer.zero_grad()
        with amp.scale_loss(one.sum() + (two.sum() if uses_both else 0), optimizer) as scaled:
            scaled.backward()
        optimizer.step()
    assert one.tolist() == [0.0] * 3 and two.tolist() == [0.5] * 3


@pytest.mark.filterwarnings("error:.*lr_scheduler")
@pytest.mark.filterwarnings("error:.*optimizer.step")
def test_a_scheduler_and_later_groups():
    model, extra = network.made(network.Residual), torch.nn.Linear(2, 2).npu()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O2", verbosity=0)
    optimizer.add_param_group({"params": list(extra.half().parameters())})
    assert {p.dtype for p in amp.master_params(optimizer)} == {torch.float32}
    network.step(model, optimizer, *network.batch(network.Residual))
    scheduler.step()
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.1)


CHOICES = {
    "opt_level": ["O0", "O1", "O2", "O3"],
    "cast_model_type": [None, torch.float32, torch.float16, torch.bfloat16],
    "patch_torch_functions": [None, True, False, "False"],
    "keep_batchnorm_fp32": [None, None, True, "True", False],
    "master_weights": [None, None, True, "False"],
    "loss_scale": [None, 1.0, 128.0, "dynamic", "64", "x"],
    "cast_model_outputs": [None, torch.float16, torch.float32],
    "combine_grad": [None, True, False],
    "check_combined_tensors": [None, True, False],
    "user_cast_preferred": [None, None, True],
    "scale_window": [1, 2, 0],
    "min_loss_scale": [None, 1.0],
}


@pytest.mark.parametrize("seed", range(60))
def test_any_keywords_train_or_say_why_not(seed):
    chance = random.Random(seed)
    names = chance.sample(sorted(CHOICES), chance.randint(1, 5))
    keywords = {name: chance.choice(CHOICES[name]) for name in names}
    try:
        model, optimizer = initialized(**keywords)
    except (RuntimeError, ValueError, TypeError) as error:
        assert any(name in str(error) for name in names), (keywords, str(error))
        return
    inputs, labels = network.batch(network.Residual)
    losses = [network.step(model, optimizer, inputs, labels) for _ in range(4)]
    assert losses[-1] < losses[0], (keywords, losses)
