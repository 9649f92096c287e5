# SPDX-License-Identifier: Apache-2.0
"""One step of each optimizer as a formula, in float64: (weight, gradient, memory, step from 1, options) -> weight."""

import math

import torch


def memory_of(memory, name, like):
    return memory.get(name, torch.zeros_like(like))


def sgd(p, g, memory, t, lr, momentum=0, dampening=0, weight_decay=0, nesterov=False):
    g = g + weight_decay * p
    if momentum:
        old = memory.get("buffer")
        memory["buffer"] = buffer = g if old is None else momentum * old + (1 - dampening) * g
        g = g + momentum * buffer if nesterov else buffer
    return p - lr * g


def moments(g, memory, beta1, beta2):
    memory["m"] = beta1 * memory_of(memory, "m", g) + (1 - beta1) * g
    memory["v"] = beta2 * memory_of(memory, "v", g) + (1 - beta2) * g * g
    return memory["m"], memory["v"]


def adam_step(g, memory, t, betas, eps, amsgrad=False):
    m, v = moments(g, memory, *betas)
    if amsgrad:
        memory["most"] = v = torch.maximum(memory_of(memory, "most", v), v)
    return m / (1 - betas[0] ** t) / (v.sqrt() / math.sqrt(1 - betas[1] ** t) + eps)


def adam(p, g, memory, t, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False):
    return p - lr * adam_step(g + weight_decay * p, memory, t, betas, eps, amsgrad)


def adamw(p, g, memory, t, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False):
    return p * (1 - lr * weight_decay) - lr * adam_step(g, memory, t, betas, eps, amsgrad)


def adadelta(p, g, memory, t, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0):
    g = g + weight_decay * p
    memory["v"] = rho * memory_of(memory, "v", g) + (1 - rho) * g * g
    moved = memory_of(memory, "d", g)
    delta = (moved + eps).sqrt() / (memory["v"] + eps).sqrt() * g
    memory["d"] = rho * moved + (1 - rho) * delta * delta
    return p - lr * delta


def rmsprop(p, g, memory, t, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False):
    g = g + weight_decay * p
    memory["v"] = v = alpha * memory_of(memory, "v", g) + (1 - alpha) * g * g
    if centered:
        memory["m"] = alpha * memory_of(memory, "m", g) + (1 - alpha) * g
        v = v - memory["m"] ** 2
    update = g / (v.sqrt() + eps)
    if momentum:
        memory["b"] = update = momentum * memory_of(memory, "b", g) + update
    return p - lr * update


def rmsprop_tf(
    p, g, memory, t, lr=1e-2, alpha=0.9, eps=1e-10, weight_decay=0, momentum=0, centered=False,
    decoupled_decay=False, lr_in_momentum=True,
):  # fmt: skip
    if decoupled_decay:
        p = p - weight_decay * p
    else:
        g = g + weight_decay * p
    old = memory_of(memory, "v", g)
    memory["v"] = v = old + (1 - alpha) * (g * g - old)
    if centered:
        mean = memory_of(memory, "m", g)
        memory["m"] = mean = mean + (1 - alpha) * (g - mean)
        v = v - mean * mean
    update = g / (v + eps).sqrt()
    if not momentum:
        return p - lr * update
    memory["b"] = momentum * memory_of(memory, "b", g) + (lr if lr_in_momentum else 1) * update
    return p - memory["b"] * (1 if lr_in_momentum else lr)


def lamb(p, g, memory, t, lr=1e-3, betas=(0.9, 0.999), eps=1e-6, weight_decay=0, adam=False, norm=1.0):
    m, v = moments(g / max(norm, 1.0), memory, *betas)
    r = m / (v.sqrt() + eps) + weight_decay * p
    ratio = 1.0
    if not adam and p.norm() > 0 and r.norm() > 0:
        ratio = min(p.norm().item(), 10.0) / r.norm().item()
    return p - lr * ratio * r


def bert_adam(
    p, g, memory, t, lr, warmup=-1, t_total=-1, schedule="warmup_linear", b1=0.9, b2=0.99, e=1e-6,
    weight_decay=0.01, max_grad_norm=-1, norm=1.0,
):  # fmt: skip
    m, v = moments(g / norm if max_grad_norm > 0 and norm > 1 else g, memory, b1, b2)
    x = (t - 1) / t_total
    after = {
        "warmup_linear": max((x - 1) / (warmup - 1), 0),
        "warmup_constant": 1,
        "warmup_cosine": (1 + math.cos(math.pi * x)) / 2,
        "warmup_poly": math.sqrt(max(1 - x, 0)),
    }
    factor = 1 if t_total == -1 else x / warmup if x < warmup else after[schedule]
    return p - lr * factor * (m / (v.sqrt() + e) + weight_decay * p)


def adamp(
    p, g, memory, t, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, delta=0.1, wd_ratio=0.1, nesterov=False
):
    m, v = moments(g, memory, *betas)
    root = v.sqrt() / math.sqrt(1 - betas[1] ** t) + eps
    update, ratio = ((betas[0] * m + (1 - betas[0]) * g) if nesterov else m) / root, 1
    for rows in [len(p), 1] if p.dim() > 1 else []:
        weights, grads = p.reshape(rows, -1), g.reshape(rows, -1)
        cosine = torch.nn.functional.cosine_similarity(weights, grads, dim=1).abs().max()
        if cosine < delta / math.sqrt(weights.shape[1]):
            flat, lengths = update.reshape(rows, -1), (weights**2).sum(1, keepdim=True)
            update = (flat - weights * (weights * flat).sum(1, keepdim=True) / lengths).reshape(p.shape)
            ratio = wd_ratio
            break
    return p * (1 - lr * weight_decay * ratio) - lr / (1 - betas[0] ** t) * update
