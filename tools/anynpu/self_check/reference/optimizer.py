# SPDX-License-Identifier: Apache-2.0
"""Steps of optimizers."""

import numpy as np


def adam(f):
    """TensorFlow's: epsilon is added to the root of the uncorrected moment."""
    lr = f.lr * np.sqrt(1 - f.beta2_power) / (1 - f.beta1_power)
    m, v = f.beta1 * f.m + (1 - f.beta1) * f.grad, f.beta2 * f.v + (1 - f.beta2) * f.grad**2
    step = f.beta1 * m + (1 - f.beta1) * f.grad if f.use_nesterov else m
    return {"var": f.var - lr * step / (np.sqrt(v) + f.eps), "m": m, "v": v}


def momentum(f):
    accum = f.momentum * f.accum + f.grad
    step = f.grad + f.momentum * accum if f.use_nesterov else accum
    return {"var": f.var - f.lr * step, "accum": accum}


REFERENCES = {
    "apply_adam": adam,
    "apply_momentum": momentum,
    "apply_gradient_descent": lambda f: {"var": f.var - f.lr * f.grad},
}
