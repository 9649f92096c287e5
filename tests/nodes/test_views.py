# SPDX-License-Identifier: Apache-2.0
"""Every kind of node reads inputs that do not lie row by row: one case of each, its matrices given as transposes."""

import numpy as np
import pytest
import tensorflow as tf
from case import distance
from test_nodes import CASES, flat
from traced import Traced


def is_turned(value):
    return value.dtype == np.float32 and value.ndim >= 2


def one_case_of_each():
    found = {}
    for case in CASES:
        if not case.oracle and any(is_turned(v) for v in flat(case.inputs)):
            found.setdefault(case.op, case)
    return found.values()


@pytest.mark.parametrize("case", one_case_of_each(), ids=lambda case: case.op)
def test_reads_views(case):
    def node(*turned):
        rest = iter(turned)
        inputs = tf.nest.map_structure(
            lambda v: tf.transpose(next(rest)) if is_turned(v) else tf.constant(v), list(case.inputs.values())
        )
        return getattr(tf.raw_ops, case.op)(**dict(zip(case.inputs, inputs, strict=True)), **case.attributes)

    traced = Traced(node, *[np.ascontiguousarray(v.T) for v in flat(case.inputs) if is_turned(v)])
    traced.engine.host_nodes.clear()
    for mine, theirs in list(zip(traced.run(), traced.wanted(), strict=True))[case.outputs]:
        assert mine.dtype == theirs.dtype and mine.shape == theirs.shape
        assert distance(mine, theirs) <= case.tolerance(theirs.dtype)
    assert not traced.engine.host_nodes
