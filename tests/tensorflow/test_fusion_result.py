# SPDX-License-Identifier: Apache-2.0
"""The option export_compile_stat: fusion_result.json, in the vendor's form and place."""

import json
import os
import subprocess
import sys
from pathlib import Path

import npu_device as npu

SCRIPT = """
import os, sys
import npu_device as npu, tensorflow as tf
npu.global_options().export_compile_stat = int(sys.argv[1])
npu.open().as_default()

@tf.function
def chain(x):
    return tf.nn.relu(x * x + 1.0) * 2.0

chain(tf.ones([4]))
print(os.getpid())
if sys.argv[1] == "2":
    os._exit(0)  # what was compiled is written by then
"""


def run(folder, when, **variables):
    """The process's id; the script ran in `folder`."""
    packages = os.pathsep.join([str(Path(npu.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    known = {k: v for k, v in os.environ.items() if k not in ("ASCEND_WORK_PATH", "DUMP_GE_GRAPH")}
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(when)], capture_output=True, text=True, cwd=folder,
                          timeout=300, env=known | {"PYTHONPATH": packages} | variables)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.split()[-1]


def check(path):
    graphs = json.loads(path.read_text())
    assert all(name.startswith("session_and_graph_id_0_") for name in graphs)
    (graph,) = [one for one in graphs.values() if "chain" in one["graph_name"]]
    assert set(graph) == {"graph_name", "graph_fusion", "ub_fusion"} and "elementwise" not in graph["graph_fusion"]
    chain = graph["ub_fusion"]["elementwise"]
    assert chain == {"match_times": "1", "effect_times": "1", "repository_hit_times": "0"}


def test_at_the_end_in_the_current_folder(tmp_path):
    run(tmp_path, 1)
    check(tmp_path / "fusion_result.json")
    assert len(list(tmp_path.iterdir())) == 1


def test_with_each_function_below_the_work_path(tmp_path):
    work = tmp_path / "work"
    pid = run(tmp_path, 2, ASCEND_WORK_PATH=str(work))
    check(work / "FE" / pid / "fusion_result.json")
    assert [path.name for path in tmp_path.iterdir()] == ["work"]


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path):
    (tmp_path / "file").write_text("in the way")
    run(tmp_path, 1, ASCEND_WORK_PATH=str(tmp_path / "file"))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
