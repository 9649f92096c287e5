# SPDX-License-Identifier: Apache-2.0
"""stream_sync_timeout and event_sync_timeout: a run that is too long fails, and the process goes on."""

import subprocess
import sys

import pytest

SCRIPT = """
import os, sys, time
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import tensorflow as tf
import npu_device as npu
npu.global_options().stream_sync_timeout = int(sys.argv[1])
npu.global_options().event_sync_timeout = int(sys.argv[2])
npu.open().as_default()

@tf.function
def endless(x):
    return tf.while_loop(lambda x: tf.reduce_sum(x) < 1e30, lambda x: (x * 0.5 + 1.0,), [x])[0]

@tf.function
def short(x):
    return tf.reduce_sum(x @ x)

def late(x):
    time.sleep(2)
    return x

@tf.function
def waiting(x):
    return tf.py_function(late, [x], tf.float32, name="slow") + 1.0
"""


def run(code, *limits):
    command = [sys.executable, "-c", SCRIPT + code, *map(str, limits)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.mark.promise("a run beyond stream_sync_timeout fails with the node that was executed, and the next one runs")
def test_a_run_that_is_too_long_fails_and_the_next_one_runs():
    done = run(
        """
x = tf.ones([2, 2])
for function in (endless, waiting):
    try:
        function(x)
        print("came to an end")
    except tf.errors.DeadlineExceededError as error:
        print(error.message.replace(chr(10), " "))
print(float(short(x)))
""", 1000, -1,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    loop, waiting, short = done.stdout.splitlines()
    for text, function in ((loop, "endless"), (waiting, "waiting")):
        assert f"the stream of __inference_{function}_" in text
        assert "on device 0 was not done within 1000 ms (option stream_sync_timeout): it executed " in text
    assert "it executed EagerPyFunc node '" in waiting and "slow" in waiting
    assert short == "8.0"


@pytest.mark.parametrize("limit", [-1, 0])
def test_no_limit(limit):
    done = run("print(waiting(tf.ones([2])).numpy().tolist())", limit, 1)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[2.0, 2.0]"


@pytest.mark.parametrize(("limits", "name"), [((-2, -1), "stream"), ((-1, -5), "event")])
def test_no_other_negative_number(limits, name):
    done = run("", *limits)
    assert done.returncode == 1
    assert f"ValueError: option {name}_sync_timeout is {min(limits)}; give milliseconds, or -1 or 0 for no limit" in (
        done.stderr
    )


def test_code_that_uses_the_c_interface_has_the_limits_of_the_process():
    """It gives none of its own where it waits for streams and events."""
    done = run(
        """
import ctypes as C
import threading
from npu_device.adapter import library
acl = library.load()
done, event, stream = threading.Event(), C.c_void_p(), C.c_void_p()
wait = C.CFUNCTYPE(None, C.c_void_p)(lambda _: done.wait() and None)
assert acl.aclrtSetDevice(0) == 0
assert acl.aclrtCreateStream(C.byref(stream)) == 0 and acl.aclrtCreateEvent(C.byref(event)) == 0
assert acl.aclrtLaunchHostFunc(stream, wait, None) == 0 and acl.aclrtRecordEvent(event, stream) == 0
print(acl.aclrtSynchronizeStream(stream), acl.aclrtSynchronizeDevice(), acl.aclrtSynchronizeEvent(event))
done.set()
acl.aclrtSynchronizeStreamWithTimeout(stream, -1)
print(acl.aclrtSynchronizeStream(stream), acl.aclrtSynchronizeEvent(event), float(short(tf.ones([2, 2]))))
""", 50, 20,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["507046 507046 507047", "0 0 8.0"]
