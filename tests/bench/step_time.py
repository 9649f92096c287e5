# SPDX-License-Identifier: Apache-2.0
"""How long a step of training on the NPU takes."""

import time

import torch


def seconds(step, count):
    """Of one of `count` steps, from an idle device to the end of the last one's work."""
    torch.npu.synchronize()
    start = time.perf_counter()
    for _ in range(count):
        step()
    torch.npu.synchronize()
    return (time.perf_counter() - start) / count
