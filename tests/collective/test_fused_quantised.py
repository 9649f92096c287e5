# SPDX-License-Identifier: Apache-2.0
"""Quantised products that meet other ranks in the same call, and products beside an all_to_all, through the vendor's
plug-in."""

import re

import pytest
import torch_ranks


@pytest.mark.promise("a quantised product with its collective in one call, and one beside an all_to_all, equal NumPy")
@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize(("what", "cases"), [("scaled", 600), ("way", 4), ("exchange", 60)])
def test_products_with_a_collective(what, cases, size):
    for text in torch_ranks.ranks(size, "torch_fused_quantised.py", what):
        found = re.findall(r"^CASE (.*)$", text, re.M)
        assert len(found) >= cases, text[-3000:]


REFUSED = {
    "unknown group": "hcom is 'nobody': no communicator of this process has that name",
    "no scale": "[aclnnQuantMatmulAllReduce] dequant_scale",
    "scale": "dequant_scale is float32[5]; it has one number, or one for each of 6 columns",
    "scale's type": "dequant_scale is float16[6]; it may be float32, int64, uint64 or bfloat16",
    "bias": "bias is float16[6]; it may be int32",
    "comm_turn": "comm_turn is 1; it is 0",
    "no antiquant_scale": "[aclnnWeightQuantMatmulAllReduce] antiquant_scale",
    "antiquant_scale": "antiquant_scale is float32[6]; it may be float16 or bfloat16",
    "offset": "antiquant_offset is float16[6], antiquant_scale is float16[1]: one shape",
    "group": "antiquantGroupSize is 48, k is 64: use 0, or a multiple of 32 below k",
    "axes": "all2all_axes are [-1, -2]; leave them out or use [-2, -1]",
    "other axes": "all2all_axes are [-2, -1]; leave them out or use [-1, -2]",
    "inner": "inner sizes differ (128 and 64)",
    "mixed": "x1 is float16, x2 is bfloat16: they must have one type",
    "whole": "x1 is int8[4x64]; it may be float16 or bfloat16",
}


def test_refusals_name_the_argument():
    torch_ranks.refused("torch_fused_quantised.py", REFUSED)
