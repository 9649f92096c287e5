# SPDX-License-Identifier: Apache-2.0
"""Elements of the device's types as NumPy's, and what their rounding is."""

import numpy as np

# Bits of the fraction, and the exponent of the smallest normal number.
FLOATS = {"float16": (10, -14), "bfloat16": (7, -126), "float32": (23, -126), "float64": (52, -1022)}
DIRECT = {
    **{f"{sign}int{bits}": f"{sign[:1]}i{bits // 8}" for sign in ("",) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"u{bits // 8}" for bits in (8, 16, 32, 64)},
    "bool": "?", "float16": "f2", "float32": "f4", "float64": "f8", "complex64": "c8", "complex128": "c16",
}  # fmt: skip


class UnknownError(Exception):
    """There is no reference for this, and why."""


def is_float(dtype):
    return dtype in FLOATS


def decoded(data, dtype, shape):
    """float64 of every floating type, int64 of whole numbers."""
    if dtype == "bfloat16":
        wide = np.frombuffer(data, "u2").astype("u4") << 16
        return wide.view("f4").astype("f8").reshape(shape)
    if dtype not in DIRECT:
        raise UnknownError(f"there is no reference for {dtype}")
    array = np.frombuffer(data, DIRECT[dtype]).reshape(shape)
    return widened(array, dtype)


def widened(array, dtype):
    kind = "f8" if is_float(dtype) else "c16" if dtype.startswith("complex") else "?" if dtype == "bool" else "i8"
    return array.astype(kind)


def converted(array, dtype):
    """As a cast to `dtype` gives it, without its rounding to fewer digits."""
    if is_float(dtype):
        return array.real.astype("f8") if np.iscomplexobj(array) else array.astype("f8")
    if dtype == "bool":
        return array != 0
    if dtype.startswith("complex"):
        return array.astype("c16")
    with np.errstate(invalid="ignore"):
        return np.trunc(array).astype("i8") if array.dtype.kind == "f" else array.astype("i8")


def ulp(values, dtype):
    """The distance of neighbours at each value."""
    digits, least = FLOATS[dtype]
    with np.errstate(divide="ignore", invalid="ignore"):
        exponent = np.floor(np.log2(np.abs(np.where(np.isfinite(values), values, 1.0))))
    return np.exp2(np.maximum(exponent, least) - digits)


def largest(dtype):
    return {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38}.get(
        dtype, np.finfo("f8").max
    )


def epsilon(dtype):
    return 2.0 ** -FLOATS[dtype][0] if dtype in FLOATS else 0.0
