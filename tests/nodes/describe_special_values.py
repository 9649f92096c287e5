# SPDX-License-Identifier: Apache-2.0
"""Element-wise nodes of what is no plain number: NaN, infinities, zeros of both signs, the least and largest numbers of
a type. Groups of one magnitude, because results are compared relative to the largest."""

import itertools

import ml_dtypes
import numpy as np
from case import FLOATING, Case

UNARY = """Neg Exp Log Log1p Sqrt Rsqrt Square Abs Sign Ceil Floor Erf Sin Cos Tanh Sigmoid Reciprocal Inv Round Rint
Expm1 Tan Asin Acos Atan Sinh Cosh Asinh Acosh Atanh Erfc Erfinv Lgamma Digamma IsFinite IsNan IsInf"""
FEATURES = ["Relu", "Relu6", "Elu", "Selu", "Softplus", "Softsign", "LeakyRelu"]
BINARY = """AddV2 Sub Mul RealDiv Maximum Minimum Pow DivNoNan MulNoNan Xdivy Xlogy Xlog1py SquaredDifference Atan2
Equal NotEqual Less LessEqual Greater GreaterEqual"""
OF_OUTPUT = ["TanhGrad", "SigmoidGrad", "SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad"]
OF_FEATURES = ["ReluGrad", "Relu6Grad", "SoftplusGrad", "SoftsignGrad", "LeakyReluGrad"]
WIDE_ONLY = ["Rint", "Erfinv", "Lgamma", "Digamma"]  # of float32 and float64
SMALL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0]
# TensorFlow's kernels of these take numbers below the least normal one for 0; ours compute them.
FLUSHING = ["Log", "Rsqrt", "Sqrt", "Reciprocal", "Inv", "Erfinv"]


def least(dtype):
    """The least positive normal number, and its neighbours."""
    tiny = float(ml_dtypes.finfo(dtype).tiny)
    return np.array([tiny, -tiny, 2 * tiny, 0.0], dtype)


def largest(dtype):
    top = float(ml_dtypes.finfo(dtype).max)
    return np.array([top, -top, np.inf, -np.inf, np.nan], dtype)


def pairs(values, dtype):
    both = np.array(list(itertools.product(values, repeat=2)), dtype)
    return both[:, 0].copy(), both[:, 1].copy()


def cases():
    for dtype in FLOATING:
        groups = [np.array(SMALL, dtype), largest(dtype), least(dtype)]
        for op in (op for op in UNARY.split() if dtype in FLOATING[:2] or op not in WIDE_ONLY):
            for x in groups[: 1 if op in FLUSHING else 3]:
                yield Case(op, x=x)
        for op in FEATURES:
            for x in groups[:2]:
                yield Case(op, features=x, wide=x is groups[0])
        x, y = pairs(SMALL, dtype)
        for op in BINARY.split():
            yield Case(op, y=y, x=x) if op == "Atan2" else Case(op, x=x, y=y)
        for op in OF_OUTPUT:
            yield Case(op, y=x, dy=y)
        for op in OF_FEATURES:
            yield Case(op, gradients=x, features=y)
