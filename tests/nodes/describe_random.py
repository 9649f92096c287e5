# SPDX-License-Identifier: Apache-2.0
"""Random numbers of given keys and seeds: TensorFlow's own bits."""

import numpy as np
from case import FLOATING, Case, floats, integers, ints, scalar

SHAPES = ((), (0, 3), (1,), (7,), (33, 31), (1000,))
KEY = np.array([0x9E3779B97F4A7C15], np.uint64)
COUNTER = np.array([3, 0x1234567890ABCDEF], np.uint64)
LAST = np.array([2**64 - 3, 7], np.uint64)  # carries into the upper half


def keyed(counter=COUNTER):
    return {"key": KEY, "counter": counter, "alg": scalar(1)}


def cases():
    yield from of_keys()
    yield from of_seeds()
    yield from of_choice()


def of_keys():
    for shape in SHAPES:
        for dtype in FLOATING:
            for op in ("StatelessRandomUniformV2", "StatelessRandomNormalV2", "StatelessTruncatedNormalV2"):
                for counter in (COUNTER, LAST) if shape == (33, 31) else (COUNTER,):
                    yield Case(op, shape=ints(*shape), **keyed(counter), dtype=np.dtype(dtype), exact=True)
        for dtype in ("int32", "int64"):
            bounds = {"minval": scalar(-5, dtype), "maxval": scalar(12, dtype)}
            yield Case("StatelessRandomUniformIntV2", shape=ints(*shape), **keyed(), **bounds)
        for dtype in ("int32", "int64", "uint32", "uint64"):
            yield Case("StatelessRandomUniformFullIntV2", shape=ints(*shape), **keyed(LAST), dtype=dtype)
    info = np.iinfo("int64")
    yield Case(
        "StatelessRandomUniformIntV2", shape=ints(9), **keyed(), minval=np.array(info.min),
        maxval=np.array(info.max),
    )  # fmt: skip


def of_seeds():
    for seed in (ints(1, 2), ints(-1, 2**40, dtype="int64")):
        for dtype in ("float32", "float64", "float16"):
            for op in ("StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal"):
                yield Case(op, shape=ints(5, 7), seed=seed, dtype=dtype, exact=True)
        for dtype in ("int32", "int64"):
            bounds = {"minval": scalar(0, dtype), "maxval": scalar(1000, dtype)}
            yield Case("StatelessRandomUniformInt", shape=ints(5, 7), seed=seed, **bounds)
            yield Case("StatelessRandomUniformFullInt", shape=ints(5, 7), seed=seed, dtype=dtype)
        yield Case("StatelessRandomGetKeyCounter", seed=seed)
        yield Case("StatelessRandomGetKeyCounterAlg", seed=seed)
    yield Case("StatelessRandomGetAlg")


def of_choice():
    for shape in ((7,), (100,), (9, 4), (1, 4), (3, 0)):
        for dtype in ("float32", "int64"):
            yield Case("StatelessShuffle", value=integers(*shape, dtype=dtype), **keyed())
    for dtype in FLOATING:
        for out in ("int32", "int64"):
            yield Case(
                "StatelessMultinomial", logits=floats(3, 6, dtype=dtype), num_samples=scalar(11), seed=ints(4, 5),
                output_dtype=out,
            )  # fmt: skip
