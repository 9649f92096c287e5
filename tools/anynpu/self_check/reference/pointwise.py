# SPDX-License-Identifier: Apache-2.0
"""Operators on elements."""

import math

import numpy as np

ERF = np.frompyfunc(math.erf, 1, 1)
ROOT_2, BETA = math.sqrt(2), math.sqrt(2 / math.pi)


def erf(x):
    return ERF(np.asarray(x, "f8")).astype("f8")


def times(alpha, value):
    return value if alpha is None or alpha == 1 else alpha * value


def normal(x):
    """The cumulated normal distribution."""
    return 0.5 * (1 + erf(x / ROOT_2))


def gelu(x, tanh=False):
    return 0.5 * x * (1 + np.tanh(BETA * (x + 0.044715 * x**3))) if tanh else x * normal(x)


def gelu_slope(x, tanh=False):
    if not tanh:
        return normal(x) + x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    t = np.tanh(BETA * (x + 0.044715 * x**3))
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * BETA * (1 + 3 * 0.044715 * x * x)


def sigmoid(x):
    return 0.5 * (1 + np.tanh(0.5 * x))


def logical(function):
    return lambda f: function(np.asarray(f.self) != 0, np.asarray(f.other) != 0)


def binary(function):
    return lambda f: function(f.self, f.other)


def unary(function):
    return lambda f: function(np.asarray(f.self))


def where(f):
    return np.where(f.condition, f.self, f.other)


def silu_slope(x):
    return sigmoid(x) * (1 + x * (1 - sigmoid(x)))


def clamp(f):
    low = -np.inf if f.min is None else f.min
    return np.minimum(np.maximum(f.self, low), np.inf if f.max is None else f.max)


UNARY = {
    "neg": np.negative, "abs": np.abs, "reciprocal": lambda x: 1 / x, "square": np.square, "cube": lambda x: x**3,
    "sign": np.sign, "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2,
    "log10": np.log10, "log1p": np.log1p, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "sin": np.sin,
    "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh,
    "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "erf": erf,
    "erfc": lambda x: 1 - erf(x), "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "round": np.rint,
    "relu": lambda x: np.where(x > 0, x, 0 * np.where(np.isfinite(x), 0, x * 0)), "sigmoid": sigmoid,
    "silu": lambda x: x * sigmoid(x), "gelu": gelu, "logical_not": lambda x: x == 0, "bitwise_not": np.invert,
    "isfinite": np.isfinite, "softsign": lambda x: x / (1 + np.abs(x)), "signbit": np.signbit,
}  # fmt: skip
BINARY = {
    "mul": np.multiply, "div": lambda a, b: np.true_divide(a, b), "maximum": np.maximum, "minimum": np.minimum,
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal, "atan2": np.arctan2, "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor, "floor_divide": np.floor_divide, "remainder": np.mod, "fmod": np.fmod,
    "squared_difference": lambda a, b: (a - b) ** 2,
}  # fmt: skip
# By field: what backward is given may be called `out` or `output`.
OTHERS = {
    "add": lambda f: f.self + times(f.alpha, f.other),
    "sub": lambda f: f.self - times(f.alpha, f.other),
    "rsub": lambda f: f.other - times(f.alpha, f.self),
    "pow": lambda f: np.power(np.asarray(f.self, "f8"), f.exponent),
    "clamp": clamp,
    "where": where,
    "div_no_nan": lambda f: np.where(f.other == 0, 0.0, np.true_divide(f.self, f.other)),
    "addcmul": lambda f: f.self + f.value * f.tensor1 * f.tensor2,
    "addcdiv": lambda f: f.self + f.value * f.tensor1 / f.tensor2,
    "lerp": lambda f: f.self + f.weight * (f.end - f.self),
    "threshold": lambda f: np.where(f.self > f.threshold, f.self, f.value),
    "threshold_backward": lambda f: np.where(f.self > f.threshold, f.grad_output, 0.0),
    "relu_backward": lambda f: np.where(f.self > 0, f.grad_output, 0.0),
    "sigmoid_backward": lambda f: f.grad_output * f.output * (1 - f.output),
    "sigmoid_grad": lambda f: f.grad_output * f.output * (1 - f.output),
    "tanh_backward": lambda f: f.grad_output * (1 - f.output * f.output),
    "silu_backward": lambda f: f.grad_output * silu_slope(f.self),
    "gelu_backward": lambda f: f.grad_output * gelu_slope(f.self),
    "gelu_mode": lambda f: gelu(f.self, f.approximate in (1, "tanh")),
    "gelu_backward_mode": lambda f: f.grad_output * gelu_slope(f.self, f.approximate == "tanh"),
    "leaky_relu": lambda f: np.where(f.self > 0, f.self, f.negative_slope * f.self),
    "masked_fill": lambda f: np.where(f.mask, f.value, f.self),
    "rsqrt_backward": lambda f: -0.5 * f.grad_output * f.output**3,
    "sqrt_backward": lambda f: 0.5 * f.grad_output / f.output,
    "softplus": lambda f: np.where(f.self * f.beta > f.threshold, f.self, np.log1p(np.exp(f.self * f.beta)) / f.beta),
    "logical_and": logical(np.logical_and),
    "logical_or": logical(np.logical_or),
    "logical_xor": logical(np.logical_xor),
}
REFERENCES = {
    **{name: unary(function) for name, function in UNARY.items()},
    **{name: binary(function) for name, function in BINARY.items()},
    **OTHERS,
}
