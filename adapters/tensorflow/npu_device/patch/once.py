# SPDX-License-Identifier: Apache-2.0
"""Functions of TensorFlow and Keras that this package takes the place of."""

import functools


def replace(owner, name, make, mark="_npu_device"):
    """From now on `owner.name` is `make(theirs)`, once however often it is asked for. What is replaced twice, each time
    for a purpose of its own, has a `mark` for each."""
    theirs = getattr(owner, name)
    if hasattr(theirs, mark):
        return
    ours = functools.wraps(theirs)(make(theirs))
    setattr(ours, mark, True)
    setattr(owner, name, ours)
