# SPDX-License-Identifier: Apache-2.0
"""Boxes of images: cut out and resized, selected by their scores, drawn."""

import numpy as np
from case import Case, floats, integers, ints, scalar

# Inside, on the edge, turned over, beyond the image, a line, a point.
CROPS = np.float32(
    [[0, 0, 1, 1], [0.1, 0.2, 0.7, 0.95], [0.8, 0.9, 0.3, 0.1], [-0.4, 0.2, 1.3, 1.2], [0.5, 0, 0.5, 1], [0.3] * 4]
)
OF_IMAGE = ints(0, 1, 1, 0, 1, 0)


def cut():
    for size in ((3, 4), (1, 5), (7, 1), (1, 1), (9, 12)):
        for method in ("bilinear", "nearest"):
            rule = {"crop_size": ints(*size), "method": method, "extrapolation_value": -1.5}
            yield Case("CropAndResize", exact=True, image=floats(2, 6, 5, 3), boxes=CROPS, box_ind=OF_IMAGE, **rule)
            gradient = floats(6, *size, 3)
            for dtype in ("float32", "float64", "float16"):
                # The sums of one image come in the order of its boxes; halves are rounded at each.
                yield Case("CropAndResizeGradImage", grads=gradient[:1], boxes=CROPS[1:2], box_ind=ints(1),
                           image_size=ints(2, 6, 5, 3), T=dtype, method=method, exact=True)  # fmt: skip
            yield Case("CropAndResizeGradImage", grads=gradient, boxes=CROPS, box_ind=OF_IMAGE,
                       image_size=ints(2, 6, 5, 3), T="float32", method=method)  # fmt: skip
        yield Case("CropAndResizeGradBoxes", grads=gradient, image=floats(2, 6, 5, 3), boxes=CROPS, box_ind=OF_IMAGE,
                   method="bilinear")  # fmt: skip
    rest = {"boxes": CROPS, "box_ind": OF_IMAGE, "crop_size": ints(4, 4)}
    for dtype in ("uint8", "uint16", "int8", "int16", "int32", "int64"):
        yield Case("CropAndResize", exact=True, image=integers(2, 6, 5, 2, dtype=dtype, low=0, high=99), **rest)
    for dtype in ("float16", "float64"):
        yield Case("CropAndResize", exact=True, image=floats(2, 6, 5, 2, dtype=dtype), **rest)
    yield Case("CropAndResize", image=floats(2, 6, 5, 3), boxes=CROPS[:0], box_ind=ints(), crop_size=ints(2, 2))


def boxes_of(count, dtype="float32", seed=0):
    """Corners in any order, and some twice."""
    corners = floats(count, 4, low=0, high=1, seed=seed)
    corners[count // 2 :] = corners[: count - count // 2] + np.float32(0.05)
    return corners.astype(dtype)


def selected():
    scores = floats(40, low=0, high=1).round(1)  # of equal scores, too
    half, number = scalar(0.4, "float32"), scalar(0.2, "float32")
    for most in (0, 3, 100):
        limit = scalar(most)
        yield Case("NonMaxSuppression", boxes=boxes_of(40), scores=scores, max_output_size=limit, iou_threshold=0.3)
        for dtype in ("float32", "float16"):
            given = {"boxes": boxes_of(40, dtype), "scores": scores.astype(dtype), "max_output_size": limit}
            for threshold in ("float32", "float16"):
                overlap, least = half.astype(threshold), number.astype(threshold)
                yield Case("NonMaxSuppressionV2", **given, iou_threshold=overlap)
                yield Case("NonMaxSuppressionV3", **given, iou_threshold=overlap, score_threshold=least)
                for pads in (False, True):
                    yield Case("NonMaxSuppressionV4", **given, iou_threshold=overlap, score_threshold=least,
                               pad_to_max_output_size=pads)  # fmt: skip
            for sigma in (0, 0.5):
                for pads in (False, True):
                    yield Case("NonMaxSuppressionV5", exact=True, **given, iou_threshold=half.astype(dtype),
                               score_threshold=number.astype(dtype), soft_nms_sigma=scalar(sigma, dtype),
                               pad_to_max_output_size=pads)  # fmt: skip
        yield Case("NonMaxSuppressionWithOverlaps", overlaps=floats(20, 20, low=0, high=1), scores=scores[:20],
                   max_output_size=limit, overlap_threshold=scalar(0.7, "float32"), score_threshold=number)  # fmt: skip
    none = {"boxes": boxes_of(40)[:0], "scores": scores[:0], "max_output_size": scalar(4)}
    yield Case("NonMaxSuppressionV3", **none, iou_threshold=half, score_threshold=number)
    odd = np.float32([[0, 0, 1, 1], [0, 0, np.nan, 1], [0, 0, 0, 0], [0, 0, np.inf, 1], [0, 0, 1, 0.99]])
    yield Case("NonMaxSuppressionV3", boxes=odd, scores=np.float32([1, np.nan, 3, np.inf, -np.inf]),
               max_output_size=scalar(9), iou_threshold=half, score_threshold=scalar(-9, "float32"))  # fmt: skip


def combined():
    for shared, classes in ((1, 1), (1, 3), (3, 3)):
        boxes = np.stack([boxes_of(30 * shared, seed=s).reshape(30, shared, 4) for s in (1, 2)]) * 1.2 - 0.1
        scores = floats(2, 30, classes, low=0, high=1).round(1)
        for most, total in ((2, 3), (4, 50), (40, 7)):
            for pads in (False, True):
                for clips in (False, True):
                    yield Case("CombinedNonMaxSuppression", exact=True, boxes=boxes.astype("float32"), scores=scores,
                               max_output_size_per_class=scalar(most), max_total_size=scalar(total),
                               iou_threshold=scalar(0.4, "float32"), score_threshold=scalar(0.3, "float32"),
                               pad_per_class=pads, clip_boxes=clips)  # fmt: skip


def drawn():
    boxes = np.stack([CROPS, CROPS[::-1]])
    colours = floats(2, 4, low=0, high=1)
    for dtype in ("float32", "float16"):
        for depth in (1, 3, 4):
            image = floats(2, 7, 9, depth, dtype=dtype)
            yield Case("DrawBoundingBoxes", exact=True, images=image, boxes=boxes)
            yield Case("DrawBoundingBoxesV2", exact=True, images=image, boxes=boxes, colors=colours)
    image, far = floats(2, 7, 9, 3), np.stack([boxes[0] + 1.2, boxes[1] - 3])
    yield Case("DrawBoundingBoxesV2", exact=True, images=image, boxes=boxes, colors=colours[:0])
    yield Case("DrawBoundingBoxes", exact=True, images=image, boxes=far)
    yield Case("DrawBoundingBoxes", exact=True, images=image, boxes=boxes[:, :0])


def cases():
    yield from cut()
    yield from selected()
    yield from combined()
    yield from drawn()
