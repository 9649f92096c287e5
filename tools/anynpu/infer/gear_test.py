# SPDX-License-Identifier: Apache-2.0
import pytest

from anynpu.infer import gear
from anynpu.infer.port import Port


def port(*shape):
    return Port("x", "float32", "NCHW", shape, 0, 0)


def test_an_open_axis_takes_every_size():
    assert gear.fits((4, 3), port(-1, 3)) and not gear.fits((4, 2), port(-1, 3)) and not gear.fits((4,), port(-1, 3))


def test_the_batch_is_that_of_the_inputs_with_an_open_one():
    assert gear.batch_of([port(-1, 3), port(7)], [(4, 3), (7,)]) == 4
    with pytest.raises(ValueError, match=r"not one number: \[2, 4\]"):
        gear.batch_of([port(-1), port(-1)], [(2,), (4,)])


def test_height_and_width():
    assert gear.picture_of([port(1), port(1, 3, -1, -1)], [(1,), (1, 3, 4, 6)]) == (4, 6)
    with pytest.raises(ValueError, match="open height and width"):
        gear.picture_of([port(-1, 3)], [(1, 3)])
