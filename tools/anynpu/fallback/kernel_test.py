# SPDX-License-Identifier: Apache-2.0
import pytest

from anynpu.fallback import kernel

TABLE = """CPU: registered at /build/RegisterCPU_0.cpp:1 [kernel]
PrivateUse1: registered at {} [{}]
SparsePrivateUse1: registered at ../torch_npu/csrc/aten/VariableFallbackKernel.cpp:251 [backend fallback]
AutocastPrivateUse1: fallthrough registered at ../torch_npu/csrc/aten/AutoCastOps.cpp:24 [backend fallback]
"""


@pytest.mark.parametrize(
    "source, note, kind",
    [
        ("../torch_npu/csrc/aten/RegisterNPU.cpp:34325", "kernel", kernel.OWN),
        ("../torch_npu/csrc/aten/VariableFallbackKernel.cpp:240", "backend fallback", kernel.FALLBACK),
        ("/build/RegisterCompositeImplicitAutograd_0.cpp:9", "math kernel", kernel.COMPOSITE),
        ("/build/RegisterCompositeExplicitAutograd_0.cpp:9", "default backend kernel", kernel.EXPLICIT),
    ],
)
def test_the_row_of_the_npu(source, note, kind):
    assert kernel.parsed(TABLE.format(source, note), kernel.DENSE) == kernel.Kernel(kind, source)


def test_the_fallback_for_sparse_tensors_refuses_and_a_fallthrough_is_nothing():
    table = TABLE.format("x", "kernel")
    assert kernel.parsed(table, "SparsePrivateUse1").kind == kernel.REFUSED
    assert kernel.parsed(table, "AutocastPrivateUse1").kind == kernel.NONE
    assert kernel.parsed(table, "SparseCsrPrivateUse1").kind == kernel.NONE
