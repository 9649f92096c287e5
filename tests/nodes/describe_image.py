# SPDX-License-Identifier: Apache-2.0
"""Images of other sizes."""

from case import FLOATING, Case, floats, integers, ints

BFLOAT16 = FLOATING[3]


def cases():
    for size in ((8, 10), (3, 7), (4, 5), (1, 1), (2, 13)):
        for centers, corners in ((False, False), (True, False), (False, True)):
            rule = {"align_corners": corners, "half_pixel_centers": centers}
            for dtype in ("float32", "float16", "bfloat16"):
                image = floats(2, 4, 5, 3, dtype=BFLOAT16 if dtype == "bfloat16" else dtype)
                yield Case("ResizeBilinear", images=image, size=ints(*size), **rule)
            gradient = floats(2, *size, 3)
            # The gradient adds up with weights that TensorFlow rounds to float32 first.
            yield Case("ResizeBilinearGrad", grads=gradient, original_image=floats(2, 4, 5, 3), **rule)
            if corners:
                continue
            for dtype in ("float32", "float64", "float16"):
                yield Case("ResizeNearestNeighbor", images=floats(2, 4, 5, 3, dtype=dtype), size=ints(*size), **rule)
            yield Case("ResizeNearestNeighborGrad", grads=gradient, size=ints(4, 5), **rule)
    yield Case("ResizeBilinear", images=integers(1, 4, 5, 2, dtype="uint8", low=0, high=255), size=ints(7, 3),
               half_pixel_centers=True)  # fmt: skip
