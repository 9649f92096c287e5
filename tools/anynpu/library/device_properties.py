# SPDX-License-Identifier: Apache-2.0
"""Fields that the properties of a GPU have and torch-npu leaves None on those of an NPU. Scripts choose formats and
sizes by them, and print them."""

import os
import re
import sys


def capability():
    """(major, minor) of TORCH_NPU_DEVICE_CAPABILITY, else of the first GPUs with the formats of this SoC: 8.0 has
    bfloat16, 7.0 has float16 alone."""
    given = re.fullmatch(r"(\d+)\.(\d+)", os.environ.get("TORCH_NPU_DEVICE_CAPABILITY", ""))
    if given:
        return tuple(int(number) for number in given.groups())
    return (8, 0) if sys.modules["torch_npu"].npu.is_bf16_supported() else (7, 0)


FIELDS = {
    "major": lambda properties: capability()[0],
    "minor": lambda properties: capability()[1],
    "multi_processor_count": lambda properties: properties.vector_core_num,
    "is_integrated": lambda properties: 0,
    "is_multi_gpu_board": lambda properties: 0,
}


def filled(given, compute):
    """A property that is `compute(properties)` where the one of torch-npu is None, or is not there."""

    def get(properties):
        own = given.__get__(properties) if given is not None else None
        return compute(properties) if own is None else own

    return property(get)


def begin():
    """torch_npu has been imported."""
    kind = getattr(getattr(sys.modules.get("torch_npu"), "_C", None), "_NPUDeviceProperties", None)
    if kind is not None:
        for name, compute in FIELDS.items():
            setattr(kind, name, filled(getattr(kind, name, None), compute))
