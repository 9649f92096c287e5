# SPDX-License-Identifier: Apache-2.0
"""How training in halves moved the weights, held to how training in float32 moves them.

Losses and weights that agree within a few per cent say little: ten steps move weights by less than that, and weights
that never moved would pass. What is compared is the movement, the weights after training minus those before it.

The yardstick is how far rounding alone leads: the distance between the CPU's own run in halves and its run in float32,
measured in the same test where a model rounds badly (a small ResNet: 0.13 of its movement in float16, 0.37 in
bfloat16), else 1/30. Measured against that: all weights together came as far as 1.0 of it, one tensor 1.9, and along
the movement of float32 a tensor was too long or too short by 0.7. Half a gradient is 0.5 too short and 15 yardsticks
of 1/30 away, a layer that stands still 1.0 and 30, one that goes the other way 2.0 and 60."""

import numpy as np

ROUNDING = 1 / 30
# A tensor whose share is smaller does not move but for rounding: a bias before a softmax or a norm over it.
SHARE = 1e-3


def between(before, after):
    """The movement from weights to later ones, {name: array}."""
    return {name: np.asarray(after[name], "float64") - np.asarray(start, "float64") for name, start in before.items()}


def length(arrays):
    return np.sqrt(sum((a**2).sum() for a in arrays))


def apart(ours, theirs):
    """The distance of two movements, {name: array}, relative to the second, and for each tensor (distance, how much too
    long or too short along the second)."""
    assert list(ours) == list(theirs)
    whole = length(theirs.values())
    assert whole > 0, "nothing moved"
    each = {}
    for name, there in theirs.items():
        size = length([there])
        still = size < SHARE * whole
        far = length([ours[name] - there]) / (SHARE * whole if still else size)
        each[name] = far, 0.0 if still else abs((ours[name] * there).sum() / size**2 - 1)
    return length([ours[n] - there for n, there in theirs.items()]) / whole, each


def assert_alike(ours, theirs, own=0.0):
    """`own`: how far the CPU's own run in halves is from `theirs`, all weights together."""
    rounding = max(own, ROUNDING)
    total, each = apart(ours, theirs)
    far, along = (max(each, key=lambda name, i=i: each[name][i]) for i in (0, 1))
    print(f"moved by {length(theirs.values()):.1e}: apart by {total:.1e} ({total / rounding:.2f} of what rounding may "
          f"do), {far} by {each[far][0]:.1e} ({each[far][0] / rounding:.2f}), {along} too long or short by "
          f"{each[along][1]:.1e} ({each[along][1] / rounding:.2f})")  # fmt: skip
    assert total <= 1.5 * rounding
    assert each[far][0] <= 3 * rounding, far
    assert each[along][1] <= rounding, along
