# SPDX-License-Identifier: Apache-2.0
"""Fourier transforms, numbers rounded to few bits, bins, differences of lists, singular values, labels over time."""

import numpy as np
import tensorflow as tf
from case import NUMBERS, Case, floats, integers, ints, scalar

COMPLEX = {"float32": "complex64", "float64": "complex128"}


def spectra(dtype, *shape):
    return (floats(*shape, dtype=dtype) + 1j * floats(*shape, dtype=dtype, seed=7)).astype(COMPLEX[dtype])


def transforms():
    for dtype, complex_dtype in COMPLEX.items():
        for rank, shape in ((1, (2, 12)), (2, (3, 6, 10)), (3, (2, 4, 6, 5))):
            suffix = "" if rank == 1 else f"{rank}D"
            yield Case(f"FFT{suffix}", input=spectra(dtype, *shape))
            yield Case(f"IFFT{suffix}", input=spectra(dtype, *shape))
            whole, axes = shape[-rank:], shape[:-rank]
            for cut in (0, 1):  # as long as the input, and shorter
                lengths = [size - cut for size in whole]
                yield Case(f"RFFT{suffix}", input=floats(*shape, dtype=dtype), fft_length=ints(*lengths),
                           Tcomplex=complex_dtype)  # fmt: skip
                half = (*axes, *whole[:-1], whole[-1] // 2 + 1)
                yield Case(f"IRFFT{suffix}", input=spectra(dtype, *half), fft_length=ints(*lengths), Treal=dtype)
        for length in (1, 2, 7, 64, 97):
            yield Case("FFT", input=spectra(dtype, length))
            yield Case("RFFT", input=floats(length, dtype=dtype), fft_length=ints(length), Tcomplex=complex_dtype)
            yield Case("IRFFT", input=spectra(dtype, length // 2 + 1), fft_length=ints(length), Treal=dtype)
    yield Case("IFFT2D", input=spectra("float32", 0, 4, 4))


def quantised():
    x = np.concatenate([floats(60, low=-9, high=9), np.float32([0, -6, 6, 0.5, 1e9, -1e9])])
    image, gradient = floats(2, 3, 4, 5, low=-3, high=3), floats(2, 3, 4, 5, seed=5)
    channels = {"min": np.float32([-1, -2, 0, -0.1, 0]), "max": np.float32([1, 0.5, 3, 0.2, 0])}
    for bits, narrow in ((8, False), (8, True), (2, False), (16, True), (4, True)):
        rule = {"num_bits": bits, "narrow_range": narrow}
        for low, high in ((-6, 6), (-1.3, 2.1), (0, 4), (1, 5), (-7, -2)):
            yield Case("FakeQuantWithMinMaxArgs", exact=True, inputs=x, min=low, max=high, **rule)
            yield Case("FakeQuantWithMinMaxArgsGradient", exact=True, gradients=floats(66, seed=3), inputs=x, min=low,
                       max=high, **rule)  # fmt: skip
            ends = {"min": scalar(low, "float32"), "max": scalar(high, "float32")}
            yield Case("FakeQuantWithMinMaxVars", exact=True, inputs=x, **ends, **rule)
            yield Case("FakeQuantWithMinMaxVarsGradient", gradients=floats(66, seed=3), inputs=x, **ends, **rule)
        yield Case("FakeQuantWithMinMaxVarsPerChannel", exact=True, inputs=image, **channels, **rule)
        yield Case("FakeQuantWithMinMaxVarsPerChannelGradient", gradients=gradient, inputs=image, **channels, **rule)
    nothing = {"min": scalar(0, "float32"), "max": scalar(0, "float32")}
    yield Case("FakeQuantWithMinMaxVars", exact=True, inputs=x, **nothing)
    yield Case("FakeQuantWithMinMaxVarsGradient", exact=True, gradients=floats(66), inputs=x, **nothing)
    yield Case("FakeQuantWithMinMaxVarsPerChannel", exact=True, inputs=floats(5), **channels)
    yield Case("FakeQuantWithMinMaxVarsPerChannelGradient", exact=True, gradients=floats(5), inputs=floats(5),
               **channels)  # fmt: skip


def counted():
    for dtype in ("float32", "float64", "int32", "int64"):
        values = integers(7, 9, low=-9, high=15).astype(dtype)
        for count in ("int32", "int64"):
            yield Case("HistogramFixedWidth", values=values, value_range=np.array([-3, 7], dtype), nbins=scalar(6),
                       dtype=count)  # fmt: skip
    yield Case("HistogramFixedWidth", values=np.float32([np.inf, -np.inf, 0, 1]), value_range=np.float32([0, 1]),
               nbins=scalar(1))  # fmt: skip
    yield Case("HistogramFixedWidth", values=floats(0), value_range=np.float32([0, 1]), nbins=scalar(3))
    yield Case("HistogramFixedWidth", values=floats(500), value_range=np.float32([-1, 1.5]), nbins=scalar(77))


def different():
    for dtype in (*NUMBERS, "uint8", "int8", "int16", "uint16"):
        x, y = (integers(20, low=0, high=12, seed=s).astype(dtype) for s in (1, 2))
        for index in ("int32", "int64"):
            yield Case("ListDiff", x=x, y=y[:6], out_idx=index)
    odd = np.float32([0.0, -0.0, np.nan, 1.5, np.nan])
    yield Case("ListDiff", x=odd, y=np.float32([-0.0, np.nan]))
    yield Case("ListDiff", x=ints(3, 4), y=ints())
    yield Case("ListDiff", x=ints(), y=ints(3))


def singular():
    """Values only: vectors are the same up to their signs, which test_singular_vectors.py allows for."""
    for dtype in ("float32", "float64"):
        for shape in ((4, 3), (2, 3, 5), (6, 6), (1, 4), (20, 17)):
            for vectors in (True, False):
                yield Case("Svd", input=floats(*shape, dtype=dtype), compute_uv=vectors, outputs=slice(0, 1))
        for shape in ((4, 3), (3, 5)):
            yield Case("Svd", input=spectra(dtype, *shape), outputs=slice(0, 1))
    for shape in ((0, 3), (3, 0), (0, 2, 2)):
        for full in (False, True):
            yield Case("Svd", input=floats(*shape), full_matrices=full)


def flat(op, **keywords):
    """Outputs that are lists, one behind the other."""
    case = Case(op, **keywords)
    case.oracle = lambda: tf.nest.flatten(list(case.call()))
    return case


def labelled():
    for dtype in ("float32", "float64"):
        scores = floats(9, 3, 5, dtype=dtype, low=-3, high=3)
        level = np.round(scores)  # equal ones, too
        for inputs in (scores, level):
            for lengths in ((9, 4, 0), (1, 9, 9)):
                given = {"inputs": inputs, "sequence_length": ints(*lengths)}
                for merge in (False, True):
                    for blank in (-1, 0, 2):
                        yield flat("CTCGreedyDecoder", **given, merge_repeated=merge, blank_index=blank)
            for width, paths in ((1, 1), (4, 2), (30, 3)):
                for merge in (False, True):
                    yield flat("CTCBeamSearchDecoder", inputs=inputs, sequence_length=ints(9, 4, 3), beam_width=width,
                               top_paths=paths, merge_repeated=merge)  # fmt: skip


def cases():
    yield from transforms()
    yield from quantised()
    yield from counted()
    yield from different()
    yield from singular()
    yield from labelled()
