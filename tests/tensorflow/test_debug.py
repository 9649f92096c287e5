# SPDX-License-Identifier: Apache-2.0
"""op_debug_config: what its file asks for is in force when the first device is opened."""

import os
import subprocess
import sys

import pytest
from npu_device.setting import debug

SCRIPT = """
import os
import tensorflow as tf
import npu_device as npu
npu.global_options().op_debug_config = {path!r}
npu.open().as_default()
w = tf.Variable(tf.ones([4, 3]))
step = tf.function(lambda x: tf.reduce_sum(tf.nn.relu(tf.matmul(x, w))))
assert float(step(tf.ones([2, 4]))) == 24
# The client's own mapping of device memory: in guard mode nobody may touch it.
print([line.split()[1] for line in open("/proc/self/maps") if "anynpu" in line and "memfd" in line])
"""


def opened(tmp_path, text):
    path = tmp_path / "test0.cfg"
    path.write_text(text)
    return subprocess.run(
        [sys.executable, "-c", SCRIPT.format(path=str(path))], capture_output=True, text=True,
        env={name: value for name, value in os.environ.items() if name != "ANYNPU_GUARD"},
    )  # fmt: skip


def test_oom_guards_the_memory_of_the_device(tmp_path):
    guarded = opened(tmp_path, "op_debug_config = ccec_O0,ccec_g,oom\n")
    assert guarded.returncode == 0, guarded.stderr
    assert "---s" in guarded.stdout
    assert "ccec_O0, ccec_g changes nothing: there are no compiled kernels" in guarded.stderr
    free = opened(tmp_path, "op_debug_config = dump_bin, dump_cce\n")
    assert free.returncode == 0, free.stderr
    assert "---s" not in free.stdout and "rw-s" in free.stdout
    assert free.stderr.count("dump_bin, dump_cce changes nothing: there are no compiled kernels") == 1


@pytest.mark.parametrize("text", ["", "oom", "op_debug_config = ", "op_debug_config = oom,fast", "debug = oom"])
def test_what_asks_for_nothing_known_is_refused(tmp_path, text):
    path = tmp_path / "test0.cfg"
    path.write_text(text)
    with pytest.raises(ValueError, match="option op_debug_config: .*test0.cfg has .*write op_debug_config = "):
        debug.words(path)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ValueError, match="op_debug_config: .*none.cfg cannot be read"):
        debug.words(tmp_path / "none.cfg")
