# SPDX-License-Identifier: Apache-2.0
"""Ten steps of each optimizer, in every option, are its formula in float64."""

import formula
import pytest
import torch
from apex import amp, optimizers

CASES = [
    ("NpuFusedSGD", formula.sgd, {"lr": 0.1}),
    ("NpuFusedSGD", formula.sgd, {"lr": 0.1, "momentum": 0.9, "dampening": 0.1, "weight_decay": 0.01}),
    ("NpuFusedSGD", formula.sgd, {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    ("NpuFusedAdam", formula.adam, {"lr": 0.01, "weight_decay": 0.1}),
    ("NpuFusedAdam", formula.adam, {"lr": 0.01, "amsgrad": True, "betas": (0.5, 0.7)}),
    ("NpuFusedAdamW", formula.adamw, {"lr": 0.01, "weight_decay": 0.1}),
    ("NpuFusedAdamW", formula.adamw, {"lr": 0.01, "amsgrad": True, "betas": (0.5, 0.7)}),
    ("NpuFusedAdadelta", formula.adadelta, {"weight_decay": 0.1}),
    ("NpuFusedRMSprop", formula.rmsprop, {"weight_decay": 0.1}),
    ("NpuFusedRMSprop", formula.rmsprop, {"momentum": 0.9, "centered": True}),
    ("NpuFusedRMSpropTF", formula.rmsprop_tf, {"weight_decay": 0.1}),
    ("NpuFusedRMSpropTF", formula.rmsprop_tf, {"weight_decay": 0.1, "decoupled_decay": True, "momentum": 0.9}),
    ("NpuFusedRMSpropTF", formula.rmsprop_tf, {"momentum": 0.9, "lr_in_momentum": False, "centered": True}),
    ("NpuFusedLamb", formula.lamb, {"lr": 0.01, "weight_decay": 0.1}),
    ("NpuFusedLamb", formula.lamb, {"lr": 0.01, "adam": True}),
    ("NpuFusedLamb", formula.lamb, {"lr": 0.01, "use_global_grad_norm": True}),
    ("Lamb", formula.lamb, {"lr": 0.01, "weight_decay": 0.1}),
    ("NpuFusedBertAdam", formula.bert_adam, {"lr": 0.01}),
    ("NpuFusedBertAdam", formula.bert_adam, {"lr": 0.01, "max_grad_norm": 1.0, "weight_decay": 0}),
    *[
        ("NpuFusedBertAdam", formula.bert_adam, {"lr": 0.01, "t_total": 12, "warmup": 0.3, "schedule": schedule})
        for schedule in ("warmup_linear", "warmup_constant", "warmup_cosine", "warmup_poly")
    ],
    ("NpuFusedAdamP", formula.adamp, {"lr": 0.01, "weight_decay": 0.1}),
    ("NpuFusedAdamP", formula.adamp, {"lr": 0.01, "nesterov": True, "delta": 10.0, "weight_decay": 0.1}),
]


def expected(update, start, grads, options):
    options = dict(options)
    with_norm = options.pop("use_global_grad_norm", options.get("max_grad_norm", -1) > 0)
    weights, memory = [p.double() for p in start], [{} for _ in start]
    for t, of_step in enumerate(grads, 1):
        of_step = [g.double() for g in of_step]
        more = {"norm": torch.cat([g.flatten() for g in of_step]).norm().item()} if with_norm else {}
        weights = [update(p, g, m, t, **options, **more) for p, g, m in zip(weights, of_step, memory, strict=True)]
    return weights


def started(name, options, start, **keywords):
    weights = [torch.nn.Parameter(p.npu()) for p in start]
    optimizer = getattr(optimizers, name)(weights, **options)
    return amp.initialize(torch.nn.ParameterList(weights), optimizer, verbosity=0, loss_scale=128.0, **keywords)


@pytest.mark.parametrize("combine", [False, True], ids=["apart", "combined"])
@pytest.mark.parametrize(("name", "update", "options"), CASES, ids=lambda value: str(value)[:60])
@pytest.mark.promise("the NpuFused optimizers of apex follow their formulas")
def test_ten_steps_are_the_formula(name, update, options, combine):
    torch.manual_seed(3)
    start = [4 * torch.randn(4, 6), torch.randn(5), torch.randn(3, 2, 2)]  # one with a norm above LAMB's limit of 10
    grads = [[torch.randn_like(p) for p in start] for _ in range(10)]
    model, optimizer = started(name, options, start, combine_grad=combine)
    for of_step in grads:
        optimizer.zero_grad()
        loss = sum((p * g.npu()).sum() for p, g in zip(model, of_step, strict=True))
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        optimizer.step()
    for found, right in zip(model, expected(update, start, grads, options), strict=True):
        assert (found.detach().cpu().double() - right).abs().max() <= 1e-5 * right.abs().max()


@pytest.mark.parametrize("name", [name for name in optimizers.__all__ if name.startswith("Npu")])
def test_they_ask_for_amp(name):
    weight = torch.nn.Parameter(torch.ones(2).npu())
    optimizer = getattr(optimizers, name)([weight], lr=0.1)
    weight.grad = torch.ones_like(weight)
    with pytest.raises(RuntimeError, match=f"{name} works with amp"):
        optimizer.step()


def test_gradients_are_clipped_together():
    start = [torch.ones(3), torch.ones(4)]
    model, optimizer = started("NpuFusedSGD", {"lr": 1.0}, start, combine_grad=True)
    with amp.scale_loss(3 * model[0].sum() + 4 * model[1].sum(), optimizer) as scaled:
        scaled.backward()
    norm = optimizer.clip_optimizer_grad_norm_fused(1.0)
    assert norm.item() == pytest.approx((3 * 9 + 4 * 16) ** 0.5)
    assert torch.stack([p.grad.norm() for p in model]).norm().item() == pytest.approx(1.0, abs=1e-4)


def test_state_goes_through_a_checkpoint():
    start = [torch.ones(3)]

    def stepped(optimizer, model, times):
        for _ in range(times):
            with amp.scale_loss((model[0] ** 2).sum(), optimizer) as scaled:
                scaled.backward()
            optimizer.step()
            optimizer.zero_grad()

    model, optimizer = started("NpuFusedLamb", {"lr": 0.1}, start)
    stepped(optimizer, model, 2)
    saved, weights = optimizer.state_dict(), [p.detach().cpu() for p in model]
    stepped(optimizer, model, 2)
    other, resumed = started("NpuFusedLamb", {"lr": 0.1}, weights)
    resumed.load_state_dict(saved)
    stepped(resumed, other, 2)
    assert torch.equal(other[0].cpu(), model[0].cpu())


@pytest.mark.parametrize("name", ["FusedAdam", "FusedSGD", "FusedLAMB", "FusedNovoGrad", "NpuFusedAdagrad"])
def test_what_is_not_there_names_itself(name):
    with pytest.raises(NotImplementedError, match=f"apex.optimizers.{name} is not built"):
        getattr(optimizers, name)


@pytest.mark.parametrize(
    ("name", "options", "text"),
    [
        ("NpuFusedLamb", {"lr": -1}, "lr is -1"),
        ("NpuFusedLamb", {"betas": (1.0, 0.9)}, "beta1 is 1.0; it must be at least 0 and below 1"),
        ("NpuFusedBertAdam", {"lr": 0.1, "schedule": "linear"}, "schedule is 'linear'; it takes warmup_cosine"),
        ("NpuFusedBertAdam", {"lr": 0.1, "warmup": 1.5}, "warmup is 1.5"),
        ("NpuFusedRMSpropTF", {"momentum": -0.1}, "momentum is -0.1"),
    ],
)
def test_wrong_options_are_named(name, options, text):
    with pytest.raises(ValueError, match=text):
        getattr(optimizers, name)([torch.nn.Parameter(torch.ones(1))], **options)
