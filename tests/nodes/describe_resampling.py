# SPDX-License-Identifier: Apache-2.0
"""Images resized by cubic weights or by areas, cut into patches, in other colours."""

import itertools

import numpy as np
from case import FLOATING, NUMBERS, Case, floats, integers, ints, numbers


def resized():
    rules = [{"align_corners": a, "half_pixel_centers": h} for a, h in ((False, False), (True, False), (False, True))]
    for size in ((8, 10), (3, 7), (4, 5), (1, 1), (2, 13)):
        for rule in rules:
            for depth in (3, 2):  # TensorFlow has code of its own for 3 channels
                yield Case("ResizeBicubic", exact=True, images=floats(2, 4, 5, depth), size=ints(*size), **rule)
            for dtype in ("float32", "float64"):
                yield Case("ResizeBicubicGrad", exact=True, grads=floats(2, *size, 3),
                           original_image=floats(2, 4, 5, 3, dtype=dtype), **rule)  # fmt: skip
        for corners, depth in itertools.product((False, True), (3, 2)):
            yield Case("ResizeArea", exact=True, images=floats(2, 4, 5, depth), size=ints(*size),
                       align_corners=corners)  # fmt: skip
    for dtype in ("uint8", "int8", "uint16", "int16", "int32", "int64"):
        image = integers(1, 4, 5, 2, dtype=dtype, low=0, high=99)
        yield Case("ResizeBicubic", exact=True, images=image, size=ints(7, 3), half_pixel_centers=True)
        yield Case("ResizeArea", exact=True, images=image, size=ints(7, 3))
    for dtype in FLOATING[1:]:
        image = floats(1, 4, 5, 2, dtype=dtype)
        yield Case("ResizeBicubic", exact=True, images=image, size=ints(7, 3), half_pixel_centers=True)
        yield Case("ResizeArea", exact=True, images=image, size=ints(7, 3))


def patches():
    for dtype in (*NUMBERS, "uint8", "int8", "complex64"):
        image = floats(2, 7, 8, 3).astype(dtype) if dtype == "complex64" else numbers(dtype, 2, 7, 8, 3)
        for kernel, stride, rate in (((3, 2), (2, 3), (1, 1)), ((2, 3), (1, 1), (2, 3)), ((1, 1), (3, 2), (1, 1))):
            for padding in ("SAME", "VALID"):
                yield Case("ExtractImagePatches", exact=True, images=image, ksizes=[1, *kernel, 1],
                           strides=[1, *stride, 1], rates=[1, *rate, 1], padding=padding)  # fmt: skip
    yield Case("ExtractImagePatches", images=floats(0, 7, 8, 3), ksizes=[1, 3, 3, 1], strides=[1, 1, 1, 1],
               rates=[1, 1, 1, 1], padding="SAME")  # fmt: skip
    yield Case("ExtractImagePatches", images=floats(1, 3, 3, 2), ksizes=[1, 4, 4, 1], strides=[1, 1, 1, 1],
               rates=[1, 1, 1, 1], padding="VALID")  # fmt: skip


def colours():
    for dtype in ("float32", "float64"):
        bright = floats(4, 5, 3, dtype=dtype, low=0, high=1)
        gray = np.repeat(bright[..., :1], 3, axis=-1)
        corners = np.array(list(itertools.product((0, 0.5, 1), repeat=3)), dtype)
        for picture in (bright, gray, corners, floats(3, dtype=dtype), bright[:0], floats(6, 3, dtype=dtype)):
            yield Case("RGBToHSV", images=picture)
            yield Case("HSVToRGB", images=picture)


def cases():
    yield from resized()
    yield from patches()
    yield from colours()
