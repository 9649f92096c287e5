# SPDX-License-Identifier: Apache-2.0
"""Element-wise nodes with a rule of their own: division, guards, gradients, bits, choices."""

import numpy as np
import tensorflow as tf
from case import FLOATING, NUMBERS, Case, floats, integers, ints, numbers, scalar

UNARY = "Rint Expm1 Tan Asin Acos Atan Sinh Cosh Asinh Atanh Erfc Erfinv IsFinite IsNan IsInf"
GUARDED = "DivNoNan MulNoNan Xdivy Xlogy"
BACKWARD = "TanhGrad SigmoidGrad SqrtGrad RsqrtGrad ReciprocalGrad InvGrad"
SPECIAL = np.float32([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.5, 0.5, 1e30, -1e-30])


def divisors(dtype, *shape):
    y = numbers(dtype, *shape, seed=3)
    return np.where(np.abs(y) < 0.25, np.array(2, dtype), y)


def of_floats(dtype):
    x = floats(3, 5, dtype=dtype, low=-0.9, high=0.9)
    name = np.dtype(dtype).name
    # What the client has no kernels of.
    missing = {"float16": ("Erfinv", "Rint"), "bfloat16": ("Erfinv", "Rint", "Lgamma", "Digamma")}.get(name, ())
    for op in UNARY.split():
        if op not in missing:
            yield Case(op, x=x)
    yield Case("Acosh", x=floats(3, 5, dtype=dtype, low=1.1, high=9))
    for op in ("Softplus", "Softsign"):
        yield Case(op, features=floats(3, 5, dtype=dtype, low=-30, high=30))
        yield Case(op + "Grad", gradients=x, features=floats(3, 5, dtype=dtype), wide=True)
    for op in ("Lgamma", "Digamma"):
        if op not in missing:
            yield Case(op, x=floats(4, 9, dtype=dtype, low=0.2, high=20))
    y = np.where(floats(5, seed=5) > 0, floats(5, low=0.3), np.float32(0)).astype(dtype)
    for op in GUARDED.split():
        yield Case(op, x=x, y=y, wide=True)
    yield Case("DivNoNan", x=y, y=y)
    yield Case("Atan2", y=x, x=floats(5, dtype=dtype, seed=2))
    for op in BACKWARD.split():
        yield Case(op, y=floats(3, 5, dtype=dtype, low=0.2, high=0.9), dy=x, wide=True)
    yield Case("CheckNumerics", tensor=x, message="loss")
    yield Case("CheckNumericsV2", tensor=x, message="loss")


def of_numbers(dtype):
    x, y = numbers(dtype, 4, 5), numbers(dtype, 4, 5, seed=1)
    yield Case("FloorDiv", x=x, y=divisors(dtype, 5))
    yield Case("FloorMod", x=x, y=divisors(dtype, 5), wide=True)
    yield Case("Div", x=x, y=divisors(dtype, 4, 1))
    yield Case("SquaredDifference", x=x, y=numbers(dtype, 5, seed=4), wide=True)
    yield Case("AddN", inputs=[x, y, x])
    yield Case("AddN", inputs=[x])
    # The client has no kernel of this one: it rewrites it.
    yield Case("AccumulateNV2", inputs=[x, y], shape=[4, 5], oracle=lambda x=x, y=y: tf.add(x, y))
    yield Case("ClipByValue", t=x, clip_value_min=np.array(-1, dtype), clip_value_max=np.array(1, dtype))
    for condition in (floats(4, 5) > 0, floats(4) > 0, np.array(True)):
        yield Case("Select", condition=condition, x=x, y=y)


def cases():
    for dtype in FLOATING:
        yield from of_floats(dtype)
    for dtype in NUMBERS:
        yield from of_numbers(dtype)
    for dtype in ("int32", "int64", "int8", "uint8"):
        low = 0 if dtype == "uint8" else -9
        x, y = integers(4, 5, dtype=dtype, low=low, high=9), integers(4, 5, dtype=dtype, low=1, high=7, seed=1)
        for op in ("FloorDiv", "FloorMod", "Div", "TruncateDiv", "BitwiseAnd", "BitwiseOr", "BitwiseXor"):
            if not (op == "FloorMod" and dtype in ("int8", "uint8")):
                yield Case(op, x=x, y=y)
        for op in ("LeftShift", "RightShift"):
            yield Case(op, x=x, y=integers(5, dtype=dtype, low=low, high=70))
        yield Case("Invert", x=x)
    for dtype in ("int32", "int64", "float32", "float64"):
        x = numbers(dtype, 4, 5)
        yield Case("Mod", x=x, y=divisors(dtype, 5))
        yield Case("TruncateMod", x=x, y=divisors(dtype, 5))
    for op in ("IsFinite", "IsNan", "IsInf", "Rint", "Sinh", "Asinh", "Erfc", "Lgamma"):
        yield Case(op, x=SPECIAL)
    for op in ("Softplus", "Softsign"):
        yield Case(op, features=SPECIAL)
    for op in (*GUARDED.split(), "Xlog1py", "Atan2", "SquaredDifference", "FloorDiv"):
        x, y = np.meshgrid(SPECIAL[:8], SPECIAL[:8])
        yield Case(op, y=y, x=x) if op == "Atan2" else Case(op, x=x, y=y)
    yield Case("Digamma", x=np.float32([0.3, -0.7, -3.4, 200, 1e-3]))
    yield Case("ClipByValue", t=SPECIAL, clip_value_min=scalar(-1, "float32"), clip_value_max=scalar(1, "float32"))
    yield Case("ClipByValue", t=ints(1, 5, 9), clip_value_min=scalar(7), clip_value_max=scalar(3))
    for dtype in ("int32", "int64"):  # beyond what float32 holds
        yield Case("Square", x=integers(9, dtype=dtype, low=-30000, high=30000))
    # 1 / 0.1 rounds to 10, although 0.1 is above a tenth.
    yield Case("FloorDiv", x=np.float32([1, -1, 7.5]), y=np.float32([0.1, 0.1, 0.3]))
    for source, target, shape in (("float32", "int32", (3, 4)), ("int32", "uint8", (2, 3)),
                                  ("uint8", "float32", (2, 4)),
                                  ("float64", "float32", (3,)), ("float16", "bfloat16", (5,))):  # fmt: skip
        yield Case("Bitcast", input=integers(*shape).astype(source), type=target)
    for dtype in ("complex64", "complex128"):
        x = (floats(3, 4) + 1j * floats(3, 4, seed=1)).astype(dtype)
        real = "float32" if dtype == "complex64" else "float64"
        for op in ("Real", "Imag", "ComplexAbs", "Angle"):
            argument = "x" if op == "ComplexAbs" else "input"
            yield Case(op, **{argument: x}, Tout=real)
        yield Case("Conj", input=x)
        yield Case("Complex", real=floats(3, 4, dtype=real), imag=floats(4, dtype=real), Tout=dtype)
    for dtype in ("float32", "float64"):
        x = floats(9, dtype=dtype)
        yield Case("ApproximateEqual", x=x, y=(x + np.linspace(0, 2e-5, 9)).astype(dtype))
    yield Case("Pow", x=integers(3, 4), y=integers(3, 4, low=0, high=4))
    yield Case("Select", condition=np.array([True, False]), x=ints(1, 2), y=ints(3, 4))
