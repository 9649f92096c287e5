# SPDX-License-Identifier: Apache-2.0
"""The vendor's environment variables, each set of them in a process of its own: log lines, dumped graphs, the report, a
function that does not compile."""

import ctypes
import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import messages
import npu_device as npu
import pytest
import tensorflow as tf
from google.protobuf import text_format
from npu_device.adapter import library
from npu_device.setting import environment

SCRIPT = """
import npu_device as npu
import tensorflow as tf

npu.open().as_default()
npu.open()
weight = tf.Variable(tf.random.normal([64, 64]), name="weight")

@tf.function
def step(x):
    for _ in tf.range(3):
        x = tf.nn.softmax(tf.matmul(x, weight))
    return tf.reduce_sum(x)

@tf.function(input_signature=[tf.TensorSpec([None, 64])])
def grows(x):
    weight.assign_add(tf.ones([64, 64]) * 1e-3)
    return tf.nn.relu(x @ weight), tf.strings.length("four")

@tf.function
def many_dimensions(x):  # more than the NPU's tensors may have
    return tf.reshape(tf.reshape(x, [1] * 20 + [-1]) * 2, [-1]) + 0 * weight[0, 0]

for size in (2, 2, 3):
    step(tf.ones([2, 64]))
    grows(tf.ones([size, 64]))
try:
    print("doubled", many_dimensions(tf.ones([2])).numpy())
except tf.errors.OpError as error:
    print("refused", type(error).__name__)
print("result", float(step(tf.ones([2, 64]))))
"""
PREFIX = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}: ([IWE]) core/\w+\.cpp:\d+\] (.*)$")


def run(folder, script=SCRIPT, **variables):
    """(stdout, lines of the adapter, all of stderr) of the script with these variables and no others of theirs."""
    known = {"TF_CPP_MIN_LOG_LEVEL", "PYTHONPATH"} | set(variables)
    kept = {k: v for k, v in os.environ.items() if not re.match(r"NPU_|DUMP_|ANYNPU_REPORT|RANK_|CM_", k) or k in known}
    packages = os.pathsep.join([str(Path(npu.__file__).parents[1]), kept.get("PYTHONPATH", "")])
    path = folder / "script.py"
    path.write_text(script)
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, cwd=folder, timeout=300,
        env={**kept, "TF_CPP_MIN_LOG_LEVEL": "0", **variables, "PYTHONPATH": packages},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = [match.groups() for match in map(PREFIX.match, done.stderr.splitlines()) if match]
    return done.stdout, [f"{level} {text}" for level, text in lines], done.stderr


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    folder = tmp_path_factory.mktemp("everything")
    return folder, *run(
        folder, NPU_DEBUG="1", NPU_ENABLE_PERF="true", NPU_DUMP_GRAPH="1", DUMP_GE_GRAPH="1", DUMP_GRAPH_LEVEL="1",
        DUMP_GRAPH_PATH=str(folder / "dumps"), ANYNPU_REPORT=str(folder / "report.json"), SKT_ENABLE="1", RANK_SIZE="1",
        ENABLE_NETWORK_ANALYSIS_DEBUG="1", NPU_LOOP_SIZE="32", OP_NO_REUSE_MEM="SoftmaxV2",
    )  # fmt: skip


def test_the_lines_that_users_look_for(everything):
    lines = everything[2]
    for line in (
        "I Start graph engine with options:",
        "I Start graph engine succeed",
        "I Npu device instance /job:localhost/replica:0/task:0/device:NPU:0 created",
        "I Npu instance on device 0 already created",
        "I Set npu loop size to 32",
        "I Stop graph engine succeed",
    ):
        assert line in lines
    text = "\n".join(lines)
    graph = re.search(r"^I Add ge graph (\d+) with options:\nI   function:(__inference_step_\d+)\n", text, re.M)
    assert f"I {graph[2]} fully compiled on npu" in lines
    assert f"I Graph {graph[2]} can loop: true" in lines
    assert f"I Concrete graph for {graph[2]} loop type npu-loop" in lines
    assert lines.count(f"I Start run ge graph {graph[1]} pin to cpu, loop size 32") == 4
    assert re.search(rf"^I Graph engine run 4 times for graph {graph[1]} cost [\d.e-]+ ms$", text, re.M)
    assert re.search(r"^I __inference_grows_\d+ compiled in mix mode on npu$", text, re.M)
    assert re.search(r"again as argument x was float32\[2, 64\] and is float32\[3, 64\]", text)
    assert [line for line in lines if line[0] == "W"] == [
        "W SKT_ENABLE is accepted without effect. "
        "Several tasks sent as one: a compiled function is sent as one already."
    ]


def test_a_function_that_does_not_compile_runs_on_the_host(everything):
    assert "doubled [2. 2.]" in everything[1]
    assert re.search(r"^E Failed to compile __inference_many_dimensions_\d+, it runs on the host: .*rank 17 is above",
                     "\n".join(everything[2]), re.M)  # fmt: skip


def test_the_report_is_a_file(everything):
    functions = json.loads((everything[0] / "report.json").read_text())["functions"]
    step = next(f for f in functions if f["name"].startswith("__inference_grows_"))
    assert step["host_nodes"] == 1 and step["host"][0]["op"] == "StringLength" and step["host"][0]["runs"] == 3
    assert step["native_nodes"] + step["host_nodes"] == step["nodes"] and step["recompiles"] >= 1
    assert step["peak_bytes"] >= step["live_bytes"] and step["compile_ms"] > 0


def parsed(path, message):
    return text_format.Parse(path.read_text(), message)


@pytest.mark.promise("graph dumps, log lines and a report in the vendor's forms")
def test_dumped_graphs_are_what_their_readers_expect(everything):
    (dumps,) = (everything[0] / "dumps").iterdir()
    assert re.fullmatch(r"\d+_0", dumps.name)
    ge, onnx = messages.of(messages.GE, "ge")["ModelDef"], messages.of(messages.ONNX, "onnx")["ModelProto"]
    models = {path: parsed(path, ge()) for path in sorted(dumps.glob("ge_proto_*.txt"))}
    assert [int(path.name.split("_")[2]) for path in models] == list(range(len(models))) and len(models) > 10
    for path in models:
        twin = path.with_name(path.name.replace("proto", "onnx")).with_suffix(".pbtxt")
        assert parsed(twin, onnx()).graph.name == models[path].name
    built = next(m for p, m in models.items() if p.name.endswith("_Build.txt") and "_grows_" in m.name)
    operators = {op.name: op for op in built.graph[0].op}

    def origins(op):
        return next((list(a.value.list.s) for a in op.attr if a.key == "_datadump_original_op_types"), [])

    product = next(op for op in operators.values() if b"MatMul" in origins(op))
    assert list(product.output_desc[0].shape.dim) == [2, 64] and product.output_desc[0].size == 2 * 64 * 4
    assert any(op.type == "NetOutput" for op in operators.values())
    loop = next(m for p, m in models.items() if p.name.endswith("_PreRunBegin.txt") and "_step_" in m.name)
    assert len(loop.graph) >= 3, "condition and body of the loop"


def test_dumped_functions_are_graphs_of_tensorflow(everything):
    (dumps,) = (everything[0] / "dumps").iterdir()
    stages = sorted(p.name for p in dumps.glob("__inference_step_*.pbtxt"))
    assert stages[0].split(".")[1:] == ["0", "PreRunBegin", "pbtxt"] and stages[-1].split(".")[2] == "Build"
    for path in dumps.glob("__inference_step_*.pbtxt"):
        graph = parsed(path, tf.compat.v1.GraphDef())
        assert {"_Arg", "_Retval"} <= {node.op for node in graph.node}
        assert path.with_suffix(".dot").read_text().startswith("digraph")


def test_without_variables_it_is_quiet(tmp_path):
    out, lines, err = run(tmp_path)
    assert "refused InvalidArgumentError" in out
    first = [line for line in lines if "Start run ge graph" in line]
    assert len(first) == len(set(first)) > 0, "one line a function, not one a step"
    assert not [line for line in lines if line[0] != "I"] and "Graph engine run" not in err
    assert [p.name for p in tmp_path.iterdir()] == ["script.py"]


def test_tensorflows_level_hides_the_lines_and_the_report_is_text(tmp_path):
    _, lines, err = run(tmp_path, TF_CPP_MIN_LOG_LEVEL="1", ANYNPU_REPORT="1", DUMP_GE_GRAPH="3", DUMP_GRAPH_LEVEL="3",
                        NPU_DUMP_GRAPH="false", SKT_ENABLE="1")  # fmt: skip
    assert [line.split(" is ")[0] for line in lines] == ["W SKT_ENABLE"]
    assert re.search(r"^__inference_step_\d+ +\d+ +0 +\d+ ", err, re.M) and "NPU 0: " in err
    assert "on the host: StringLength, 3 runs" in err
    written = {p.name.split("_", 3)[3] for p in tmp_path.glob("ge_*")}
    assert written == {"Build.txt", "Build.pbtxt"}


@pytest.mark.parametrize("name", environment.SWITCHES)
def test_a_switch_that_is_neither_on_nor_off_is_refused_at_import(name, monkeypatch):
    monkeypatch.setenv(name, "yes")
    with pytest.raises(ValueError, match=f"{name}=yes is neither on nor off; set it to 1"):
        importlib.reload(environment)


# Chapters 11.3.1 to 11.3.7 of the TensorFlow guide, and what the PyTorch guide exports beside them.
VARIABLES = """JOB_ID ASCEND_DEVICE_ID ENABLE_FORCE_V2_CONTROL NPU_DEBUG NPU_DUMP_GRAPH NPU_ENABLE_PERF NPU_LOOP_SIZE
    DUMP_GE_GRAPH DUMP_GRAPH_LEVEL DUMP_GRAPH_PATH ENABLE_NETWORK_ANALYSIS_DEBUG GE_USE_STATIC_MEMORY OP_NO_REUSE_MEM
    SKT_ENABLE HELPER_CLUSTER MAX_COMPILE_CORE_NUMBER MAX_RUNTIME_CORE_NUMBER TE_PARALLEL_COMPILER
    ASCEND_MAX_OP_CACHE_SIZE ASCEND_REMAIN_CACHE_SIZE_RATIO RANK_TABLE_FILE RANK_ID RANK_SIZE CM_CHIEF_IP CM_CHIEF_PORT
    CM_CHIEF_DEVICE CM_WORKER_SIZE CM_WORKER_IP HCCL_INTRA_PCIE_ENABLE HCCL_INTRA_ROCE_ENABLE HCCL_CONNECT_TIMEOUT
    HCCL_WHITELIST_FILE HCCL_WHITELIST_DISABLE HCCL_IF_IP HCCL_IF_BASE_PORT HCCL_EXEC_TIMEOUT HCCL_RDMA_TC HCCL_RDMA_SL
    HCCL_ALLTOALL_Z_COPY HCCL_RDMA_TIMEOUT HCCL_RDMA_RETRY_CNT HCCL_SOCKET_IFNAME HCCL_SOCKET_FAMILY HCCL_BUFFSIZE
    AOE_MODE PROFILING_MODE PROFILING_OPTIONS ASCEND_PROCESS_LOG_PATH ASCEND_SLOG_PRINT_TO_STDOUT
    ASCEND_GLOBAL_LOG_LEVEL ASCEND_MODULE_LOG_LEVEL ASCEND_GLOBAL_EVENT_ENABLE ASCEND_LOG_DEVICE_FLUSH_TIMEOUT
    ASCEND_HOST_LOG_FILE_NUM TASK_QUEUE_ENABLE COMBINED_ENABLE PTCOPY_ENABLE DYNAMIC_OP SCALAR_TO_HOST_MEM BMMV2_ENABLE
    ASCEND_AICPU_PATH"""
OPENS = "import npu_device as npu; npu.open().as_default()"


def test_every_variable_of_the_guides_acts_or_speaks(tmp_path):
    in_force = library.load().anynpu_setting_in_force
    in_force.restype = ctypes.c_char_p
    assert [name for name in VARIABLES.split() if in_force(name.encode()) is None] == []
    variables = library.members("anynpu_each_client_variable")
    names = [one["variable"].decode() for one in variables if not one["acts"]]
    idle = [name for name in names if name != "RANK_SIZE"]  # of the cluster: it acts
    values = dict.fromkeys(idle, "2") | {"PROFILING_MODE": "true", "PROFILING_OPTIONS": '{"output": "/tmp"}'}
    _, lines, _ = run(tmp_path, script=OPENS, **values)
    for name in idle:
        (told,) = [line for line in lines if line.startswith(f"W {name} is accepted without effect. ")]
        assert len(told) > len(name) + 50, "and why"


def test_what_is_switched_off_is_not_told(tmp_path):
    _, lines, _ = run(tmp_path, script=OPENS, PROFILING_MODE="false", SKT_ENABLE="0", AOE_MODE="")
    assert not [line for line in lines if line[0] == "W"]
