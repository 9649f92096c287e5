# SPDX-License-Identifier: Apache-2.0
import sys

import pytest

from anynpu.repeat import repeat


@pytest.fixture
def stopped(capfd):
    def run(code):
        return repeat.execute([sys.executable, "-c", code], 2), capfd.readouterr()

    return run


def test_a_script_that_fails_ends_it_with_its_code(stopped):
    code, told = stopped("raise SystemExit(7)")
    assert code == 7 and "run 1 ended with 7, so nothing is compared" in told.err


def test_a_script_without_an_npu_is_told(stopped):
    code, told = stopped("print('here')")
    assert code == 1 and told.out == "here\n"
    assert told.err.splitlines()[-1] == (
        "anynpu run --repeat: run 1 ran no operator on an NPU; is the script written for one?"
    )
