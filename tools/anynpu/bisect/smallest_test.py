# SPDX-License-Identifier: Apache-2.0
import itertools

import pytest

from anynpu.bisect.smallest import smallest


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13])
def test_every_pair_is_found_and_nothing_beside_it(size):
    items = list(range(size))
    for wanted in {tuple(sorted({a, b})) for a, b in itertools.product(items, items)}:
        assert tuple(smallest(items, lambda part, w=wanted: set(w) <= set(part))) == wanted


def test_one_of_many_takes_few_tries():
    tries = []
    assert smallest(list(range(1000)), lambda part: tries.append(part) or 637 in part) == [637]
    assert len(tries) <= 20


def test_nothing_can_be_left_out_where_any_three_are_enough():
    found = smallest(list(range(20)), lambda part: len(part) >= 3)
    assert len(found) == 3
