# SPDX-License-Identifier: Apache-2.0
import math

import pytest

from anynpu.bisect import loss

KERAS = (
    "Epoch 1/2\n1/2 [==>...] - ETA: 0s - loss: 0.7100\r2/2 [=====] - loss: 0.6500 - val_loss: 9.0\nstep 3 Loss=1e-05"
)


def test_the_last_loss_or_all_of_them():
    watch = loss.pattern(loss.USUAL)
    assert loss.losses(KERAS, watch, series=False) == (1e-05,)
    assert loss.losses(KERAS, watch, series=True) == (0.71, 0.65, 1e-05)
    assert math.isnan(loss.losses("loss nan", watch, False)[0])
    assert loss.losses("no number", watch, False) == ()


@pytest.mark.parametrize(
    ("text", "reason"), [("loss: (", "is no regular expression"), ("loss", "0 groups"), ("(a)(b)", "2 groups")]
)
def test_a_pattern_that_takes_nothing_is_refused(text, reason):
    with pytest.raises(ValueError, match=reason):
        loss.pattern(text)


def test_what_was_taken_must_be_a_number():
    with pytest.raises(ValueError, match="took 'high' for the loss"):
        loss.losses("loss: high", loss.pattern(r"loss: (\S+)"), False)


def test_distances_are_relative_and_what_cannot_be_compared_is_far():
    assert loss.distance((1.0,), (1.0,)) == 0
    assert loss.distance((1.0, 2.0), (1.0, 4.0)) == 0.5
    assert loss.distance((0.0,), (1e-9,)) == 1
    assert loss.distance((math.nan,), (math.nan,)) == 0
    assert loss.distance((math.nan,), (1.0,)) == loss.distance((1.0,), (math.inf,)) == loss.MOST
    assert loss.distance((1.0,), (1.0, 1.0)) == loss.MOST


def test_the_golden_is_a_number_or_a_file_of_them(tmp_path):
    (tmp_path / "golden.txt").write_text("1.5, 2\n3e-1\n")
    assert loss.golden("0.25") == (0.25,)
    assert loss.golden(str(tmp_path / "golden.txt")) == (1.5, 2.0, 0.3)
    with pytest.raises(ValueError, match="--golden nowhere.txt: .* give a number, or a file of numbers"):
        loss.golden("nowhere.txt")
