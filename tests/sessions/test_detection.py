# SPDX-License-Identifier: Apache-2.0
"""Boxes, resampled images, spectra and few bits in sessions: on the NPU what they are on the CPU, none on the host."""

import npu_device
import numpy as np
import pytest
import tensorflow as tf
from both import on_both, session, tf1


def detection():
    """Placeholders and results of what stands behind a detector."""
    pictures = tf1.placeholder(tf.float32, [None, None, None, 3])
    boxes, scores = tf1.placeholder(tf.float32, [None, 4]), tf1.placeholder(tf.float32, [None])
    chosen = tf.image.non_max_suppression(boxes, scores, 4, 0.4, 0.2)
    best, first = tf.gather(boxes, chosen), tf.zeros_like(chosen)
    crops = tf.image.crop_and_resize(pictures, best, first, [5, 6])
    combined = tf.image.combined_non_max_suppression(boxes[None, :, None], scores[None, :, None], 3, 5, 0.4, 0.2)
    hues = tf.image.rgb_to_hsv(tf1.image.resize_bicubic(pictures, [9, 7], half_pixel_centers=True))
    bits = tf.quantization.fake_quant_with_min_max_args(tf1.image.resize_area(crops, [3, 3]), 0, 1)
    drawn = tf.image.draw_bounding_boxes(pictures[:1], boxes[None], [[1.0, 0, 0.5]])
    lines = tf.raw_ops.RFFT(input=pictures[..., 0], fft_length=[8])
    rest = tf.raw_ops.ListDiff(x=tf.range(tf.size(scores)), y=chosen)
    values = tf.linalg.svd(pictures[0, ..., 1], compute_uv=False)
    results = [chosen, crops, *combined, hues, bits, drawn, tf.math.imag(lines), rest.out, values]
    return (pictures, boxes, scores), results


def detected(count, height, seed):
    random = np.random.default_rng(seed)
    corners = random.uniform(0, 0.6, (count, 2))
    boxes = np.concatenate([corners, corners + 0.4], axis=1).astype("float32")
    return random.uniform(0, 1, (2, height, 9, 3)).astype("float32"), boxes, random.uniform(0, 1, count).round(1)


@on_both
def test_results_are_those_of_the_cpu():
    holes, results = detection()
    sizes = ((7, 8, 1), (3, 6, 2), (0, 8, 3), (7, 8, 4))
    return lambda run: [run.run(results, dict(zip(holes, detected(*size), strict=True))) for size in sizes]


def test_nothing_runs_on_the_host():
    with tf.Graph().as_default():
        holes, results = detection()
        with session() as made:
            before = len(npu_device.open().report())
            made.run(results, dict(zip(holes, detected(5, 8, 1), strict=True)))
            parts = npu_device.open().report()
    assert len(parts) > before
    assert [one["op"] for part in parts[before:] for one in part["host"]] == []


@pytest.mark.parametrize("on_npu", [False, True])
def test_what_does_not_fit_is_refused(on_npu):
    with tf.Graph().as_default():
        holes, results = detection()
        pictures, boxes, scores = detected(5, 8, 1)
        with (
            session(on_npu) as made,
            pytest.raises(tf.errors.InvalidArgumentError, match="scores has incompatible shape"),
        ):
            made.run(results[0], dict(zip(holes, (pictures, boxes, scores[:3]), strict=True)))
