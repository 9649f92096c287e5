# SPDX-License-Identifier: Apache-2.0
"""A rank that ends, stops, leaves or asks something else: every other rank hears it by name, in time, and goes on."""

import os
import re
import signal
import time

import pytest
from hccl_c import outputs, start

SIZE = 3
LIMIT = 2.0  # seconds until every surviving rank has its error


def heard(text):
    found = re.search(r"HEARD after ([\d.]+) s, async (\d+): (.*)", text)
    assert found, text[-2000:]
    return float(found[1]), int(found[2]), found[3]


ENDED = {
    "killed": "has ended",
    "exited": "has ended",
    "returned": "has left the communicator",
    "killed_in_receive": "has ended",
    "left": "has left the communicator",
}


@pytest.mark.parametrize("what", ENDED)
def test_a_rank_that_goes_is_named(what, tmp_path, record_property):
    results = outputs(start("fault.py", tmp_path, SIZE, what), seconds=60)
    for code, text in results[: SIZE - 1]:
        if what == "killed_in_receive" and "HEARD nothing" in text:
            pytest.fail(text)
        seconds, error, message = heard(text)
        record_property("seconds", seconds)
        print(f"{what}: {seconds:.3f} s")
        assert seconds < LIMIT
        assert error == 21  # HCCL_E_REMOTE
        assert f"rank {SIZE - 1} (host " in message and ENDED[what] in message
        assert "all_reduce" in message  # its last call
        assert "AGAIN" in text and ENDED[what] in text.split("AGAIN")[1]
        assert text.rstrip().endswith("DONE") and code == 0


def test_a_rank_that_is_done_disturbs_nobody(tmp_path):
    """A script may end without HcclCommDestroy while the others still save, or evaluate on their own."""
    for code, text in outputs(start("fault.py", tmp_path, SIZE, "done"), seconds=60)[: SIZE - 1]:
        assert code == 0 and "DISTURBED 0" in text, text[-2000:]


DIFFERS = {
    "other_count": "count is 200000 and 100000",
    "other_dtype": "dataType is float32 and int32",
    "other_op": "op is sum and max",
    "other_root": "root is 0 and 1",
    "other_operation": "the operation is all_reduce and all_gather",
    "other_order": "the operation is all_reduce and broadcast",
}


@pytest.mark.parametrize("what", DIFFERS)
def test_a_rank_that_asks_something_else_is_named(what, tmp_path):
    results = outputs(start("fault.py", tmp_path, SIZE, what), seconds=60)
    for code, text in results:
        seconds, error, message = heard(text)
        print(f"{what}: {seconds:.3f} s")
        assert seconds < LIMIT
        assert error == 1  # HCCL_E_PARA
        assert "EI0005" in message and f"rank {SIZE - 1} (host " in message and DIFFERS[what] in message
        assert code == 0


def test_a_stopped_rank_is_named(tmp_path):
    processes = start("fault.py", tmp_path, SIZE, "stopped", environment={"ANYNPU_STOPPED_AFTER": "2"})
    survivors = outputs(processes[: SIZE - 1], seconds=60)
    os.kill(processes[-1].pid, signal.SIGCONT)
    outputs(processes[-1:], seconds=60)
    for code, text in survivors:
        seconds, error, message = heard(text)
        assert 1.0 < seconds < 6
        assert error == 21 and f"rank {SIZE - 1} (host " in message and "no sign of life" in message
        assert code == 0


def test_a_rank_that_never_comes_is_named_at_the_limit(tmp_path):
    processes = start("fault.py", tmp_path, SIZE, "late", environment={"HCCL_EXEC_TIMEOUT": "2"})
    survivors = outputs(processes[: SIZE - 1], seconds=60)
    processes[-1].kill()
    for code, text in survivors:
        seconds, error, message = heard(text)
        assert 1.5 < seconds < 6
        assert error in (9, 21) and f"rank {SIZE - 1} (host " in message
        assert code == 0
    assert any("HCCL_EXEC_TIMEOUT" in text for _, text in survivors)


def test_nothing_is_left_behind(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    environment = {"XDG_RUNTIME_DIR": str(folder)}
    outputs(start("fault.py", tmp_path, SIZE, "killed", environment=environment), seconds=60)
    left = {path.suffix for path in folder.rglob("*") if path.is_file() or path.is_socket()}
    assert left <= {".sock", ".page"}  # of the killed process; the next one removes them
    (tmp_path / "root").unlink()
    outputs(start("fault.py", tmp_path, 2, "other_op", environment=environment), seconds=60)
    time.sleep(0.1)
    assert [path.name for path in folder.rglob("*.sock")] == []


def test_a_missing_rank_is_named(tmp_path):
    processes = start("fault.py", tmp_path, SIZE, "killed", environment={"HCCL_CONNECT_TIMEOUT": "3"})
    processes[1].kill()
    for code, text in outputs([processes[0], processes[2]], seconds=60):
        assert code != 0 and "EI0006" in text
        assert "missing: 1" in text or "rank 1 (host" in text
