# SPDX-License-Identifier: Apache-2.0
"""Boxes, resampled images, bits and spectra as parts of functions whose sizes differ from call to call."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import tensorflow as tf
from case import floats, ints
from traced import Traced, check


def boxes_of(count, seed=1):
    corners = np.random.default_rng(seed).uniform(0, 0.6, (count, 2))
    return np.concatenate([corners, corners + 0.4], axis=1).astype("float32")


def test_detections_of_any_number_of_boxes():
    def f(pictures, boxes, scores):
        chosen = tf.image.non_max_suppression(boxes, scores, 5, 0.3, 0.2)
        best = tf.gather(boxes, chosen)
        return chosen, tf.image.crop_and_resize(pictures, best, tf.zeros_like(chosen), [3, 4], "nearest")

    specs = [tf.TensorSpec(s, tf.float32) for s in ([None, None, None, 3], [None, 4], [None])]
    scores = np.float32([0.5, 0.5, 0.9, 0.1, 0.5, 0.7, 0.9, 0.3])
    t = Traced(f, floats(1, 9, 8, 3), boxes_of(8), scores, specs=specs)
    t.check()
    t.check(floats(1, 5, 6, 3), boxes_of(3), scores[:3])
    t.check(floats(1, 5, 6, 3), boxes_of(0), scores[:0])


def gradients_of_crops(pictures, boxes):
    with tf.GradientTape() as tape:
        tape.watch([pictures, boxes])
        crops = tf.image.crop_and_resize(pictures, boxes, [0, 1, 1, 0, 1], [4, 3])
        loss = tf.reduce_sum(crops * crops)
    return tape.gradient(loss, [pictures, boxes])


def test_gradients_of_crops_that_overlap():
    check(gradients_of_crops, floats(2, 7, 6, 3), boxes_of(5), tolerance=1e-5)


BITS = """
import hashlib, sys
sys.path.insert(0, {here!r})
import conftest, numpy as np
from case import floats
from test_boxes import boxes_of, gradients_of_crops
from traced import Traced
results = Traced(gradients_of_crops, floats(2, 70, 60, 16), boxes_of(5)).run()
print(hashlib.sha256(b"".join(np.ascontiguousarray(r).tobytes() for r in results)).hexdigest())
"""


def test_bits_do_not_depend_on_the_number_of_threads():
    found = set()
    for threads in ("1", "2", "4"):
        code = BITS.format(here=str(Path(__file__).parent))
        environment = os.environ | {"ANYNPU_THREADS": threads}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr[-2000:]
        found.add(done.stdout.split()[-1])
    assert len(found) == 1


def test_ranges_of_few_bits_are_trained():
    low, high = tf.Variable(np.float32([-1, -0.5, 0])), tf.Variable(np.float32([1, 2, 1.5]))

    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.quantization.fake_quant_with_min_max_vars_per_channel(x, low, high, 4)
            loss = tf.reduce_sum(y * y)
        of_x, of_low, of_high = tape.gradient(loss, [x, low, high])
        low.assign_sub(0.1 * of_low)
        high.assign_sub(0.01 * of_high)
        return y, of_x

    Traced(f, floats(6, 5, 3), specs=[tf.TensorSpec([None, None, 3], tf.float32)]).check(times=3, tolerance=1e-5)


def test_a_signal_from_its_spectrum():
    def f(signal):
        spectrum = tf.signal.stft(signal, 16, 8)
        return tf.signal.inverse_stft(spectrum, 16, 8), tf.abs(spectrum)

    t = Traced(f, floats(2, 64), specs=[tf.TensorSpec([None, None], tf.float32)])
    t.check(tolerance=1e-5)
    t.check(floats(1, 40), tolerance=1e-5)


def test_pictures_of_sizes_that_a_run_gives():
    def f(pictures, size):
        big = tf.image.resize(pictures, size, "bicubic")
        return big, tf.image.resize(big, size // 2, "area"), tf.image.rgb_to_hsv(tf.clip_by_value(big, 0.0, 1.0))

    specs = [tf.TensorSpec([None, None, None, 3], tf.float32), tf.TensorSpec([2], tf.int32)]
    t = Traced(f, floats(1, 5, 6, 3, low=0, high=1), ints(8, 9), specs=specs)
    t.check()
    t.check(floats(2, 4, 4, 3, low=0, high=1), ints(6, 3))


def test_what_a_list_does_not_have():
    def f(x, y):
        rest = tf.raw_ops.ListDiff(x=x, y=y)
        return rest.out * 2, tf.gather(x, rest.idx)

    specs = [tf.TensorSpec([None], tf.int32)] * 2
    t = Traced(f, ints(1, 5, 2, 8, 5), ints(8, 1), specs=specs)
    t.check()
    t.check(ints(3), ints())
