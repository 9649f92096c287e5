# SPDX-License-Identifier: Apache-2.0
"""Dropout draws the same mask wherever it is written, as on the CPU."""

import pytest
import torch
import torch.nn.functional as F
import torch_npu  # noqa: F401


def after_a_seed(draw, *arguments, **options):
    torch.manual_seed(7)
    return draw(*arguments, **options).cpu()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("p", [0.0, 0.1, 0.3, 0.5, 0.999, 1.0])
def test_in_place_draws_the_mask_of_dropout_elsewhere(p, dtype):
    x = torch.ones(3, 1001, dtype=dtype).npu()
    kept = after_a_seed(F.dropout, x, p) != 0
    assert torch.equal(kept, after_a_seed(F.dropout, x.clone(), p, inplace=True) != 0)
    assert torch.equal(kept, after_a_seed(torch.nn.Dropout(p), x) != 0)
    # Three standard deviations of the share that is kept.
    assert abs(kept.double().mean() - (1 - p)) <= 3 * (p * (1 - p) / x.numel()) ** 0.5
