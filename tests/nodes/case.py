# SPDX-License-Identifier: Apache-2.0
"""What a description of a kind of node says: calls of tf.raw_ops whose results on the CPU are the oracle.

    Case("Sum", input=floats(3, 4), axis=ints(1), keep_dims=True)

Keywords are those of tf.raw_ops; arrays and lists of arrays are inputs, in the operator's order, everything else is an
attribute."""

from dataclasses import dataclass

import ml_dtypes
import numpy as np
import tensorflow as tf

# Largest distance from TensorFlow on the CPU, relative to the largest magnitude of the result: one rounding, and what
# float32 or float64 lose on the way.
ROUNDING = {
    np.dtype("float32"): 2e-6,
    np.dtype("float64"): 1e-13,
    np.dtype("float16"): 5e-4,
    np.dtype(ml_dtypes.bfloat16): 4e-3,
    np.dtype("complex64"): 2e-6,
    np.dtype("complex128"): 1e-13,
}
HALF = (np.dtype("float16"), np.dtype(ml_dtypes.bfloat16))


def tolerance(dtype):
    """Of results in halves both TensorFlow's and ours were rounded. What is no number is equal."""
    return ROUNDING.get(dtype, 0) * (2 if dtype in HALF else 1)


def listed(results):
    return list(results) if isinstance(results, (list, tuple)) else [results]


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
    exact: bool  # the bits are TensorFlow's
    wide: bool  # TensorFlow computes halves in float32: its own kernels round them between the steps
    outputs: slice  # which outputs are compared
    oracle: object  # gives the results where TensorFlow has no CPU kernel for this very call

    def __init__(self, op, *, exact=False, wide=False, outputs=slice(None), oracle=None, **keywords):
        if is_input(outputs):  # some operators have an input of this name
            keywords, outputs = {**keywords, "outputs": outputs}, slice(None)
        self.op, self.exact, self.wide, self.outputs, self.oracle = op, exact, wide, outputs, oracle
        self.inputs = {name: value for name, value in keywords.items() if is_input(value)}
        self.attributes = {name: value for name, value in keywords.items() if not is_input(value)}

    def call(self, cast=tf.constant):
        """What TensorFlow computes. Arrays would become float32 where that is an attribute's default."""
        inputs = {n: [cast(v) for v in x] if isinstance(x, list) else cast(x) for n, x in self.inputs.items()}
        return getattr(tf.raw_ops, self.op)(**inputs, **self.attributes)

    def wanted(self):
        """What ours are compared with: values, and the types that they must have."""
        results = [r.numpy() for r in listed(self.oracle() if self.oracle else self.call())]
        values = results
        if self.wide and any(v.dtype in HALF for v in tf.nest.flatten(self.inputs)):
            cast = lambda v: tf.constant(v.astype("float32") if v.dtype in HALF else v)  # noqa: E731
            values = [r.numpy() for r in listed(self.call(cast))]
        return [(v, r.dtype) for v, r in zip(values, results, strict=True)]

    def tolerance(self, dtype):
        return 0 if self.exact else ROUNDING.get(dtype, 0) if self.wide else tolerance(dtype)

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
