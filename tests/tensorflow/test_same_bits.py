# SPDX-License-Identifier: Apache-2.0
"""What changes no bit of a training: a second run, the number of threads, in every precision mode; and, on a device
that saturates, the fusions."""

import pathlib

import npu_device as npu
import pytest
import test_fusion
import test_precision
from npu_device.adapter import library

HERE = str(pathlib.Path(__file__).parent)
MODES = ["force_fp16", "allow_fp32_to_bf16", "force_fp32", "allow_mix_precision"]  # one of each rule
FUSED = ["cnn", "residual", "lstm", "attention"]
CASES = [
    {"subject": subject, "options": {"precision_mode": mode}} for subject in ("cnn", "attention") for mode in MODES
]
TRAINED = """
import hashlib, sys
sys.path[:0] = [sys.argv[1]]
import conftest, test_fusion
for name in sys.argv[2:]:
    losses, weights = test_fusion.trained(name, "adam", "")
    print(name, hashlib.sha256(b"".join(weights)).hexdigest(), end=" ")
"""


def test_precision_modes():
    said = [test_precision.run(CASES, ANYNPU_THREADS=threads)[1] for threads in ("1", "2", "4")]
    losses = [[case["results"] for case in one] for one in said]
    for case, *each in zip(CASES, *losses, strict=True):
        assert each[0] == each[1] == each[2], (case, each)
    assert len({tuple(one) for one in losses[0]}) > len(CASES) / 2, "modes that all compute the same test nothing"


def test_two_runs():
    first, second = (test_fusion.in_process(TRAINED, HERE, *FUSED, ANYNPU_THREADS="2") for _ in range(2))
    assert first == second and first.count(" ") == 2 * len(FUSED) - 1


@pytest.fixture
def saturating():
    npu.set_device_sat_mode(0)
    yield
    npu.set_device_sat_mode(1)
    library.switch_fusion(npu.open()._info, b"")


@pytest.mark.parametrize(("name", "dtype"), [("cnn", "float32"), *((name, "mixed_float16") for name in FUSED)])
def test_fusions_where_the_device_saturates(saturating, name, dtype):
    assert test_fusion.trained(name, "adam", "", dtype) == test_fusion.trained(name, "adam", "ALL:off", dtype)
