# SPDX-License-Identifier: Apache-2.0
"""As the environment script of the PyTorch guide calls it."""

import pytest

from anynpu.command_test import anynpu


def report(*arguments):
    return anynpu(*arguments, program="anynpu.msnpureport")


@pytest.mark.parametrize("device", range(8))
def test_the_lines_of_the_guide_run(device):
    code, out, err = report("-g", "error", "-d", str(device))
    assert (code, err) == (0, "")
    assert out.startswith(f"msnpureport: device {device} logs as its process does; the level of the process's log")
    assert "ASCEND_GLOBAL_LOG_LEVEL" in out and len(out.splitlines()) == 1


def test_events_and_modules():
    assert "ASCEND_GLOBAL_EVENT_ENABLE" in report("-e", "disable")[1]
    assert "ASCEND_MODULE_LOG_LEVEL" in report("-m", "OP:debug")[1]


def test_what_cannot_be_fetched_is_told(tmp_path):
    code, out, err = anynpu(program="anynpu.msnpureport", ASCEND_PROCESS_LOG_PATH=str(tmp_path))
    assert (code, out) == (1, "") and "ASCEND_PROCESS_LOG_PATH" in err


def test_a_level_that_there_is_not_is_refused():
    assert report("-g", "loud")[0] == 2
