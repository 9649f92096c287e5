# SPDX-License-Identifier: Apache-2.0
"""Losses over classes. Classes lie along the second axis, or the only one."""

import numpy as np

from anynpu.self_check.reference.reduction import log_softmax, softmax

NONE, MEAN, SUM = 0, 1, 2


def chosen(f):
    """Targets as rows, and the weight of each: 0 where it is ignored."""
    target = f.target.reshape(-1)
    seen = target != f.ignore_index
    target = np.where(seen, target, 0)
    return target, np.where(seen, 1.0 if f.weight is None else f.weight[target], 0.0)


def by_class(x):
    return x.reshape(1, -1) if x.ndim == 1 else np.moveaxis(x, 1, -1).reshape(-1, x.shape[1])


def nll_loss(f):
    target, weight = chosen(f)
    each = -by_class(f.self)[np.arange(target.size), target] * weight
    total = weight.sum()
    if f.reduction == NONE:
        return {"out": each}
    return {"out": each.sum() / total if f.reduction == MEAN else each.sum(), "total_weight": total}


def nll_loss_backward(f):
    target, weight = chosen(f)
    slope = -weight / (f.total_weight.reshape(-1)[0] if f.reduction == MEAN else 1.0)
    grad = np.zeros_like(by_class(f.self))
    grad[np.arange(target.size), target] = slope * f.grad_output.reshape(-1)
    if f.self.ndim <= 2:
        return grad
    shape = f.self.shape
    return np.moveaxis(grad.reshape(shape[0], *shape[2:], shape[1]), -1, 1)


def softmax_cross_entropy(f):
    logits = f.self
    wanted = np.eye(logits.shape[-1])[f.target] if f.labels is None else f.labels
    # A class that is not wanted counts nothing, whatever its logarithm.
    each = np.where(wanted == 0, 0.0, -wanted * log_softmax(logits, -1))
    return {"out": each.sum(-1), "grad_input": softmax(logits, -1) * wanted.sum(-1, keepdims=True) - wanted}


def mse(f):
    each = (f.self - f.target) ** 2
    return each if f.reduction == NONE else each.mean() if f.reduction == MEAN else each.sum()


def mse_backward(f):
    size = np.broadcast(f.self, f.target).size if f.reduction == MEAN else 1
    return 2 * (f.self - f.target) * f.grad_output / size


REFERENCES = {
    "nll_loss": nll_loss,
    "nll_loss_backward": nll_loss_backward,
    "softmax_cross_entropy": softmax_cross_entropy,
    "mse_loss": mse,
    "mse_loss_backward": mse_backward,
}
