# SPDX-License-Identifier: Apache-2.0
"""Cases of optimiser steps and gradient scaling (see case.py for the form)."""

import torch
from case import T, case

FLOATS = [torch.float32, torch.float16, torch.bfloat16]
INF = float("inf")


def one(value):
    return T(values=lambda _g: torch.tensor(float(value), dtype=torch.float64), dtype=None)


def adamw(var, m, v, largest, grad, t, lr, beta1, beta2, weight_decay, eps, amsgrad, maximize):
    grad = -grad if maximize else grad
    m = beta1 * m + (1 - beta1) * grad
    v = beta2 * v + (1 - beta2) * grad * grad
    root = v
    if amsgrad:
        root = largest = torch.maximum(largest, v)
    denominator = root.sqrt() / (1 - beta2**t) ** 0.5 + eps
    var = var * (1 - lr * weight_decay) - lr / (1 - beta1**t) * m / denominator
    return var, m, v, largest


def adamw_v2(var, m, v, largest, grad, step, lr, beta1, beta2, weight_decay, eps, amsgrad, maximize):
    return adamw(var, m, v, largest, grad, step + 1, lr, beta1, beta2, weight_decay, eps, amsgrad, maximize)


def adamw_tensors(var, m, v, beta1_power, beta2_power, lr, weight_decay, beta1, beta2, eps, grad, largest, amsgrad,
                  maximize):  # fmt: skip
    t = torch.log(beta1_power) / torch.log(beta1) + 1
    return adamw(var, m, v, largest, grad, t, lr, beta1, beta2, weight_decay, eps, amsgrad, maximize)


def adam(var, m, v, beta1_power, beta2_power, lr, beta1, beta2, eps, grad, use_nesterov):
    rate = lr * (1 - beta2_power).sqrt() / (1 - beta1_power)
    m = m + (grad - m) * (1 - beta1)
    v = v + (grad * grad - v) * (1 - beta2)
    direction = m * beta1 + (1 - beta1) * grad if use_nesterov else m
    return var - rate * direction / (v.sqrt() + eps), m, v


for shape in [(4, 5), (7, 2001)]:
    state = {"var": T(*shape), "m": T(*shape), "v": T(*shape, low=0.1, high=1), "grad": T(*shape)}
    for amsgrad, maximize in [(False, False), (True, True)]:
        largest = T(*shape, low=0.1, high=1) if amsgrad else None
        numbers = {"lr": 0.5, "beta1": 0.75, "beta2": 0.875, "eps": 0.125, "weight_decay": 0.25}
        case("aclnnApplyAdamWV2", adamw_v2, step=T(values=lambda _g: torch.tensor(3.0), dtype=torch.float32),
             largest=largest, amsgrad=amsgrad, maximize=maximize, dtypes=FLOATS, **state,
             **numbers)  # fmt: skip
        case("aclnnApplyAdamW", adamw_tensors, beta1_power=one(0.5625), beta2_power=one(0.765625), largest=largest,
             amsgrad=amsgrad, maximize=maximize, dtypes=FLOATS, **state,
             **{k: one(n) for k, n in numbers.items()})  # fmt: skip
        numbers.pop("weight_decay")
        case("aclnnApplyAdam", adam, beta1_power=one(0.5625), beta2_power=one(0.765625), use_locking=False,
             use_nesterov=amsgrad, dtypes=FLOATS, **state,
             **{k: one(n) for k, n in numbers.items()})  # fmt: skip


def sgd(params, grads, momentum_buffers, grad_scale, weight_decay, momentum, lr, dampening, nesterov, maximize,
        is_first_step):  # fmt: skip
    new_params, new_buffers = [], []
    for p, g, b in zip(params, grads, momentum_buffers, strict=True):
        g = g / grad_scale if grad_scale is not None else g
        g = (-g if maximize else g) + weight_decay * p
        b = g.clone() if is_first_step else momentum * b + (1 - dampening) * g
        new_buffers.append(b)
        new_params.append(p - lr * (g + momentum * b if nesterov else b))
    return new_params, new_buffers


for nesterov, first, scale in [
    (False, False, None),
    (True, True, T(low=2, high=4, dtype=torch.float32)),
    (True, False, None),
]:
    case("aclnnFusedSgd", sgd, params=[T(3, 4), T(5)], grads=[T(3, 4), T(5)], momentum_buffers=[T(3, 4), T(5)],
         grad_scale=scale, weight_decay=0.125, momentum=0.75, lr=0.5, dampening=0.0 if nesterov else 0.25,
         nesterov=nesterov, maximize=first, is_first_step=first, dtypes=FLOATS)  # fmt: skip


def unscale(grads, found_inf, inv_scale):
    bad = any(not torch.isfinite(g).all() for g in grads)
    return [g * inv_scale for g in grads], torch.ones_like(found_inf) if bad else found_inf


def with_value(*shape, value):
    def make(generator):
        made = torch.rand(shape, generator=generator)
        made.view(-1)[-1] = value
        return made

    return T(*shape, values=make)


NUMBER = {"inv_scale": T(low=0.1, high=0.5, dtype=torch.float32)}
for grads in [[T(4, 5), T(3)], [T(4, 5), with_value(70, 33, value=INF)], [with_value(9, value=float("nan")), T(3)]]:
    flag = T(values=lambda _g: torch.tensor(0.0), dtype=torch.float32)
    case("aclnnForeachNonFiniteCheckAndUnscale", unscale, grads=grads, found_inf=flag, dtypes=FLOATS, **NUMBER)


def update_scale(scale, growth_tracker, found_inf, growth_factor, backoff_factor, growth_interval):
    scale, growth_tracker = scale.float(), growth_tracker.int()
    torch._amp_update_scale_(scale, growth_tracker, found_inf.float(), growth_factor, backoff_factor, growth_interval)
    return (scale.double(), growth_tracker) * 2


def single(value, dtype):
    return T(values=lambda _g: torch.tensor([value], dtype=dtype), dtype=dtype)


for scale, tracker, found in [(65536.0, 3, 0.0), (65536.0, 9, 0.0), (8.0, 9, 1.0), (3e38, 9, 0.0)]:
    case("aclnnAmpUpdateScale", update_scale, scale=single(scale, torch.float32),
         found_inf=single(found, torch.float32),
         growth_tracker=single(tracker, torch.int32),
         growth_factor=2.0, backoff_factor=0.5, growth_interval=10,
         dtypes=[torch.float32], layouts=("plain",))  # fmt: skip
