# SPDX-License-Identifier: Apache-2.0
"""What docs/npu_functions.md says of torch-npu's own functions is so."""

import collections

import npu_functions
import pytest
import torch
from compared import COMPARED
from simple_call import call

STATES = [(row, state) for row, state, _ in npu_functions.states()]
REFUSED = {row["function"]: row for row, state in STATES if state == "refused"}


def test_every_function_of_the_wheel_has_a_line():
    names = {name[5:].split(".")[0] for name in torch._C._dispatch_get_all_op_names() if name.startswith("npu::")}
    assert [row["function"] for row, _ in STATES] == sorted(names)
    print(dict(collections.Counter(state for _, state in STATES)))


def test_compared_are_those_that_the_table_says():
    assert {row["function"] for row, _ in STATES if row["call"] == "compared"} == set(COMPARED)


def same(got, expected):
    if isinstance(expected, tuple):
        return all(same(*pair) for pair in zip(got, expected, strict=True))
    if not isinstance(expected, torch.Tensor):
        return got == expected
    got = got.cpu()
    if not got.is_floating_point():
        return bool((got.long() == expected.long()).all())
    largest = expected.float().abs().max()
    near = 2e-3 if expected.dtype == torch.float16 else 1e-5
    return got.shape == expected.shape and (got.float() - expected.float()).abs().max() <= near * largest


@pytest.mark.promise("functions of torch_npu work, or refuse and name what is missing, as docs/npu_functions.md says")
@pytest.mark.parametrize("name", COMPARED)
def test_a_called_function_gives_what_its_formula_gives(name):
    arguments, formula = COMPARED[name]
    on_npu = [one.npu() if isinstance(one, torch.Tensor) else one for one in arguments]
    got = getattr(torch.ops.npu, name)(*on_npu)
    assert same(got, formula(*arguments)), (got, formula(*arguments))


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_function_names_what_is_missing(name):
    row = REFUSED[name]
    texts = call(name, row["call"])
    assert any(row["says"] in text for text in texts), texts
