# SPDX-License-Identifier: Apache-2.0
"""What a description of a kind of node says: calls of tf.raw_ops whose results on the CPU are the oracle.

    Case("Sum", input=floats(3, 4), axis=ints(1), keep_dims=True)

Keywords are those of tf.raw_ops; arrays and lists of arrays are inputs, in the operator's order, everything else is an
attribute."""

from dataclasses import dataclass

import ml_dtypes
import numpy as np
import tensorflow as tf

# Largest relative distance from TensorFlow on the CPU, to the largest magnitude of the result: both round once from
# arithmetic in float32 or better, so a few units of the last place.
TOLERANCE = {
    np.dtype("float32"): 2e-6,
    np.dtype("float64"): 1e-13,
    np.dtype("float16"): 2e-3,
    np.dtype(ml_dtypes.bfloat16): 1.6e-2,
    np.dtype("complex64"): 2e-6,
    np.dtype("complex128"): 1e-13,
}


def is_input(value):
    return isinstance(value, np.ndarray) or (isinstance(value, list) and any(isinstance(v, np.ndarray) for v in value))


def distance(got, wanted):
    """Largest difference over largest magnitude; infinities and NaN must stand in the same places."""
    wide = np.complex128 if np.iscomplexobj(wanted) else np.float64
    got, wanted = np.asarray(got).astype(wide), np.asarray(wanted).astype(wide)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(wanted))
    finite = np.isfinite(wanted)
    np.testing.assert_array_equal(got[~finite & ~np.isnan(wanted)], wanted[~finite & ~np.isnan(wanted)])
    scale = max(np.abs(wanted[finite]).max(initial=0), np.finfo("float32").tiny)
    return np.abs(got[finite] - wanted[finite]).max(initial=0) / scale


@dataclass
class Case:
    op: str
    inputs: dict
    attributes: dict
    tolerance: dict
    outputs: slice  # which outputs are compared
    oracle: object  # gives the results where TensorFlow has no CPU kernel for this very call

    def __init__(self, op, *, tolerance=None, outputs=slice(None), oracle=None, **keywords):
        if is_input(outputs):  # some operators have an input of this name
            keywords, outputs = {**keywords, "outputs": outputs}, slice(None)
        self.op, self.outputs, self.oracle = op, outputs, oracle
        self.inputs = {name: value for name, value in keywords.items() if is_input(value)}
        self.attributes = {name: value for name, value in keywords.items() if not is_input(value)}
        self.tolerance = TOLERANCE if tolerance is None else dict.fromkeys(TOLERANCE, tolerance)

    def call(self):
        """What TensorFlow computes. Arrays would become float32 where that is an attribute's default."""
        inputs = {
            n: [tf.constant(v) for v in x] if isinstance(x, list) else tf.constant(x) for n, x in self.inputs.items()
        }
        return getattr(tf.raw_ops, self.op)(**inputs, **self.attributes)

    def __repr__(self):
        def brief(value):
            if isinstance(value, list):
                return "[" + ",".join(brief(v) for v in value) + "]"
            return f"{value.dtype}{list(value.shape)}" if hasattr(value, "dtype") else str(value)

        words = [f"{name}={brief(value)}" for name, value in {**self.inputs, **self.attributes}.items()]
        return f"{self.op}({', '.join(words)})"


def floats(*shape, dtype="float32", low=-2.0, high=2.0, seed=0):
    """Seeded numbers of a floating type, uniform in [low, high)."""
    return np.random.default_rng(seed + len(shape)).uniform(low, high, shape).astype(dtype)


def integers(*shape, dtype="int32", low=-5, high=6, seed=0):
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)


def numbers(dtype, *shape, seed=0):
    """Seeded numbers of any type, of both signs where it has them."""
    return (integers if np.dtype(dtype).kind in "iu" else floats)(*shape, dtype=dtype, seed=seed)


def elements(dtype, *shape, seed=0):
    """Seeded elements of any type, none below 0; half of the truths are true."""
    return floats(*shape, seed=seed) > 0 if dtype == "bool" else floats(*shape, low=0, high=9, seed=seed).astype(dtype)


def ints(*values, dtype="int32"):
    """A short vector of integers: axes, sizes, positions."""
    return np.array(values, dtype)


def scalar(value, dtype="int32"):
    return np.array(value, dtype)


FLOATING = ("float32", "float64", "float16", ml_dtypes.bfloat16)
NUMBERS = (*FLOATING, "int32", "int64")
