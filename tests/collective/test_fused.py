# SPDX-License-Identifier: Apache-2.0
"""Products that meet other ranks in the same call, through the vendor's plug-in."""

import re

import pytest
import torch_ranks


@pytest.mark.promise("a product with its collective in one call equals NumPy, and bit by bit the two calls that it is")
@pytest.mark.parametrize("size", [2, 4])
def test_products_with_a_collective(size):
    for text in torch_ranks.ranks(size, "torch_fused.py", "equal"):
        found = re.findall(r"^CASE (.*)$", text, re.M)
        assert len(found) >= 60, text[-3000:]


def test_three_ranks_reduce():
    """The other two functions refuse three ranks before they reach the door."""
    for text in torch_ranks.ranks(3, "torch_fused.py", "equal"):
        assert "CASE all_reduce" in text


def test_each_order_with_other_calls_and_groups():
    for text in torch_ranks.ranks(4, "torch_fused.py", "order"):
        assert "ORDER kept" in text


REFUSED = {
    "unknown group": "hcom is 'nobody': no communicator of this process has that name",
    "another reduction": "reduce_op is 'max'; it is 'sum'",
    "comm_turn": "comm_turn is 3; it is 0",
    "comm_mode": "comm_mode is 'tcp'; it is 'ai_cpu' or 'aiv'",
    "float32": "x1 is float32[4x8]; it may be float16 or bfloat16",
    "gather_index": "gather_index is 1; it is 0",
    "mixed types": "x1 is float16, x2 is bfloat16: they must have one type",
    "bias": "bias is 5; it has one number for each of 6 columns",
    "quantised": "self is int8[4x8]; it may be float16 or bfloat16",
    "scales": "x1_scale is given: quantised products are not built into this function",
}


def test_refusals_name_the_argument():
    torch_ranks.refused("torch_fused.py", REFUSED)


@pytest.mark.parametrize(
    ("what", "wanted"),
    [
        ("rows", "EI0005: call #"),
        ("turned", "their matrix has 6 and 4 columns"),
        ("dtype", "dataType is float16 and bfloat16"),
        ("plain", "their matrix has "),
        ("gone", "EI0002: "),
    ],
)
def test_ranks_that_do_not_fit_are_heard(what, wanted):
    for text in torch_ranks.ranks(2, "torch_fused.py", "misfit", what, HCCL_EXEC_TIMEOUT="20"):
        heard = re.findall(r"^HEARD (.*)$", text, re.M)
        assert heard or "GONE" in text, text[-3000:]
        assert all(wanted in each for each in heard), heard
