# SPDX-License-Identifier: Apache-2.0
"""The vendor's migration guide, chapter 8 (precision), command by command in its order: the precision tool beside a
training script of a small CNN, whose script is edited as the guide edits it. The planted bug is another epsilon of one
layer than the golden has; the golden are arrays in the grammar of tfdbg."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools/precision_tool"
PLANTED = "sequential/norm/FusedBatchNormV3"
MODEL = """
import os
import numpy as np
import tensorflow as tf

def model(epsilon):
    layers = tf.keras.layers
    made = tf.keras.Sequential([
        layers.Conv2D(4, 3, activation="relu", input_shape=(8, 8, 3), name="conv1"), layers.Conv2D(4, 3, name="conv2"),
        layers.BatchNormalization(epsilon=epsilon, name="norm"), layers.Flatten(name="flat"),
        layers.Dense(5, name="dense")])
    random = np.random.RandomState(0)
    for name in ("conv1", "conv2", "dense"):
        made.get_layer(name).set_weights([random.randn(*w.shape) * 0.2 for w in made.get_layer(name).get_weights()])
    kernel, bias = made.get_layer("conv2").get_weights()  # channels of very different variance: epsilon counts
    made.get_layer("conv2").set_weights([kernel * np.float32([0.01, 0.1, 1, 10]), bias])
    return made

x = np.random.RandomState(1).rand(4, 8, 8, 3).astype(np.float32) * np.float32(os.environ.get("LARGEST", "1"))
y = np.array([0, 1, 2, 3])
"""
TRAIN = """
import npu_device
{edit}
npu_device.open().as_default()
from model import *
network, optimizer = model(float(os.environ.get("EPSILON", "1e-3"))), tf.keras.optimizers.SGD(0.1)

@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, network(x, training=True)))
    optimizer.apply_gradients(zip(tape.gradient(loss, network.trainable_variables), network.trainable_variables))
    return loss

for _ in range(2):
    print("loss", float(step(tf.constant(x), tf.constant(y))).hex())
"""
GOLDEN = """
from model import *
network = model(1e-3)
os.makedirs("precision_data/tf/dump", exist_ok=True)

def put(name, *outputs):
    for index, value in enumerate(outputs):
        np.save(f"precision_data/tf/dump/{name.replace('/', '_')}.{index}.1600000000000000.npy", value)
    return outputs[0]

put("x", x)
for name in ("conv1", "conv2"):
    kernel, bias = network.get_layer(name).get_weights()
    x = put(f"sequential/{name}/Conv2D", tf.nn.conv2d(x, kernel, 1, "VALID"))
    x = put(f"sequential/{name}/BiasAdd", x + bias)
    x = put(f"sequential/{name}/Relu", tf.nn.relu(x)) if name == "conv1" else x
scale, offset, mean, variance = network.get_layer("norm").get_weights()
x = put("sequential/norm/FusedBatchNormV3", *tf.raw_ops.FusedBatchNormV3(
    x=x, scale=scale, offset=offset, mean=mean, variance=variance, epsilon=1e-3, exponential_avg_factor=0.01))
x = put("sequential/flat/Reshape", tf.reshape(x, [4, -1]))
kernel, bias = network.get_layer("dense").get_weights()
x = put("sequential/dense/MatMul", x @ kernel)
put("sequential/dense/BiasAdd", x + bias)
"""
EDIT = """import precision_tool.tf_config as npu_tf_config
npu_tf_config.npu_device_dump_config(npu_device, action={!r})"""


class Project:
    """A folder with a training script and the precision tool beside it."""

    def __init__(self, folder):
        self.folder = folder
        shutil.copytree(TOOL, folder / "precision_tool", ignore=shutil.ignore_patterns("*_test.py", "__pycache__"))
        (folder / "model.py").write_text(MODEL)
        (folder / "golden.py").write_text(GOLDEN)

    def run(self, *command, given=None, code=0, **environment):
        path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
        done = subprocess.run(
            [str(word) for word in command], cwd=self.folder, capture_output=True, text=True, input=given,
            env=os.environ | {"PATH": path, "PYTHONWARNINGS": "ignore"} | environment,
        )  # fmt: skip
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def train(self, action=None, **environment):
        """The losses of a training whose script has the guide's two lines, or none of them."""
        (self.folder / "train.py").write_text(TRAIN.format(edit=EDIT.format(action) if action else ""))
        return re.findall("^loss (.*)$", self.run(sys.executable, "train.py", **environment), re.MULTILINE)

    def tool(self, *lines):
        """What the prompt answers to these lines."""
        return self.run(sys.executable, "./precision_tool/cli.py", given="\n".join(lines) + "\n")

    def step(self, run):
        (found,) = (self.folder / f"precision_data/npu/{run}/dump").glob("*/0/*step*/*/0")
        return found.relative_to(self.folder)

    def graph(self, run):
        """As the guide has it: the largest text, right in the folder of graphs."""
        texts = (self.folder / f"precision_data/npu/{run}/graph").glob("ge_proto_*_Build.txt")
        return max(texts, key=lambda path: path.stat().st_size).relative_to(self.folder)

    def atc(self, run, name):
        out = self.run("atc", "--mode=5", f"--om={self.graph(run)}", f"--json=precision_data/npu/{run}/{name}")
        assert "ATC run success" in out
        return Path(f"precision_data/npu/{run}/{name}")

    def keep(self):
        """mv precision_data/npu/debug_0/ precision_data/npu/debug_1"""
        npu = self.folder / "precision_data/npu"
        shutil.rmtree(npu / "debug_1", ignore_errors=True)
        (npu / "debug_0").rename(npu / "debug_1")


def firsts(text):
    """The operators that the tool shows, in its order, by the names of files."""
    return [re.sub(r"\W", "_", name) for name in re.findall(r"^ +\[\d+\] (\S+)", text, re.MULTILINE)]


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


@pytest.mark.promise("precision_tool finds operators that overflow, as the guide's 8.5 has it")
def test_overflows_are_found(project):
    """8.5: action='overflow', ac, pt."""
    plain = project.train(LARGEST="1e30")
    assert project.train("overflow", LARGEST="1e30") == plain
    out = project.tool("ac -l 2")
    first = re.search(r"\[(\w+)\]\[(\d+)\] (\w+)\n - \[AI Core\]\[Status:32\]\[TaskId:\2\] (.*)", out)
    assert first and "overflow of floats" in first[4]
    assert "First overflow file timestamp [" in out
    array = re.search(r"- (\S+\.output\.\d\.npy)\n +\|- \[Shape: .*Max: inf\]", out)[1]
    shown = project.tool(f"pt {array}", f"pt -n {array}")
    assert shown.count("Max: inf") == 2 and shown.count("TxtFile: precision_data/temp/decode/overflow_decode/") == 2
    (text,) = (project.folder / "precision_data/temp").rglob("*.txt")
    assert "inf" in text.read_text().split()


def test_a_run_without_overflows_says_so(project):
    assert "no operator overflowed" in project.tool("ac")


@pytest.mark.promise("fusions are closed and compared with open ones by the guide's own commands (8.6)")
def test_a_fusion_is_examined(project):
    """8.6: fusion_off, dumps with fusions and without, atc, msaccucmp -f -cf, fusion_switch."""
    project.train("dump")
    project.keep()
    on = project.atc("debug_1", "test_on.json")
    project.train("fusion_off|dump")
    off = project.atc("debug_0", "test_off.json")
    fused, plain = (json.loads((project.folder / path).read_text())["graph"][0]["op"] for path in (on, off))
    assert any(op["type"].startswith("_Fused") for op in fused) and not any(op["name"] == "fused" for op in plain)
    script = ROOT / "tools/anynpu/tools/operator_cmp/compare/msaccucmp.py"
    project.run(sys.executable, script, "compare", "-m", project.step("debug_0"), "-g", project.step("debug_1"),
                "-f", on, "-cf", off, "-out", "out_dir", code=2)  # fmt: skip
    (result,) = (project.folder / "out_dir").glob("result_*.csv")
    with open(result, newline="") as file:
        cosines = {row["TensorIndex"]: row["CosineSimilarity"] for row in csv.DictReader(file)}
    compared = {index: float(cosine) for index, cosine in cosines.items() if cosine != "NaN"}
    assert compared[f"{PLANTED}:output:0"] > 0.999999 and min(compared.values()) > 0.999999
    switches = project.folder / "precision_tool/lib/config/fusion_switch.cfg"
    switches.write_text(
        '{\n"Switch":{\n"GraphFusion":{\n"variable_update":"off",\n},\n"UBFusion":{}\n}\n}\n'
    )  # a comma more
    shutil.rmtree(project.folder / "precision_data")
    project.train("fusion_switch|dump")
    assert "[graph_fusion] variable_update" not in (out := project.tool("fu"))
    assert "[ub_fusion] conv_epilogue" in out
    (found,) = (
        line
        for line in project.tool("ls -f conv_epilogue").splitlines()
        if re.search(r"\bsequential/conv1/Relu\b", line) and "gradient" not in line
    )
    assert "[_FusedProduct][" in found and "conv_epilogue]" in found
    assert re.search("PassName: .*conv_epilogue$", project.tool("ni sequential/conv1/Relu"), re.MULTILINE)
    assert "_Fused" not in project.tool("ls -f variable_update")


@pytest.mark.promise("ac -c, vcs and ni of precision_tool name the layer that differs from the golden first (8.7)")
def test_a_run_is_compared_with_the_golden(project):
    """8.7: the golden, action='dump', ac -c, vcs, ni, ls, cp."""
    project.run(sys.executable, "golden.py")
    plain = project.train(EPSILON="0.5")
    assert project.train("dump", EPSILON="0.5") == plain
    assert project.graph("debug_0").parent == Path("precision_data/npu/debug_0/graph")
    out = project.tool("ac -c")
    assert firsts(out)[0] == re.sub(r"\W", "_", PLANTED)
    assert "[Fusion][ub_fusion] conv_epilogue" in out
    (result,) = (project.folder / "precision_data/temp/vector_compare").glob("*/result_*.csv")
    out = project.tool("vcs", "vcs -c 0.98 -l 1", f"vcs -f {result} -c 0.5")
    assert firsts(out)[0] == re.sub(r"\W", "_", PLANTED) and "Find 0 ops less then 0.5" in out
    assert re.search(r"Input:\n +- \[0\]1.000000.*\n  Output:\n +- \[0\]0\.8", out)
    out = project.tool(f"ni {PLANTED} -s 2", f"ni -n {PLANTED} -d")
    for title in ("Input:", "Output:", "NpuDumpInput: debug_0 step 0", "NpuDumpOutput: debug_0 step 0", "TfDump:"):
        assert f"\n {title}\n" in out
    assert f"-[BatchNorm]{PLANTED}-" in out and "-epsilon: 0.5" in out
    assert "digraph" in next((project.folder / "precision_data/temp/op_graph").glob("*.2.dot")).read_text()
    mine = next((project.folder / "precision_data/temp/decode").rglob("BatchNorm.*.output.0.npy"))
    golden = f"{PLANTED.replace('/', '_')}.0.1600000000000000.npy"
    out = project.tool(f"cp {mine.name} {golden} -p 2 -al 0.002 -rl 0.005 -s", f"cp {golden} {golden}")
    assert "AllClose: False" in out and "AllClose: True" in out and "ErrorPer: 0.000000 (0/256)" in out
    assert len(re.findall(r"^ +\d+( +[-+.e\d]+){3}$", out, re.MULTILINE)) == 4
    out = project.tool("ls -t BatchNorm -n norm", "ls", "ls dump", "run echo spoken", "echo heard", "dc " + PLANTED)
    assert f"[BatchNorm] {PLANTED}" in out and "BatchNorm : 1" in out and "spoken" in out and "heard" in out
    assert f"BatchNorm {PLANTED}" in out


@pytest.mark.promise(
    "two runs of one script agree in every operator, and of two that differ vc names the first (8.8, 8.9)"
)
def test_two_runs_are_compared(project):
    """8.8, 8.9 and 8.10.3: two dumps, vc -lt -rt, vcs, ni with both runs."""
    project.train("dump")
    project.keep()
    project.train("dump")
    left, right = project.step("debug_1"), project.step("debug_0")
    assert "Find 0 ops less then 0.98" in project.tool(f"vc -lt {left} -rt {right}", "vcs")
    shutil.rmtree(project.folder / "precision_data/npu/debug_0")
    project.train("dump", EPSILON="0.5")
    right = project.step("debug_0")
    for line in (f"vc -lt {left} -rt {right}", f"vc -lt -rt {left} {right}", "vc"):  # the second as the guide prints it
        assert firsts(project.tool(line))[0] == re.sub(r"\W", "_", PLANTED)
    out = project.tool(f"ni {PLANTED}")
    assert "NpuDumpOutput: debug_0 step 0" in out and "NpuDumpOutput: debug_1 step 0" in out


def test_the_users_settings_are_obeyed(project):
    """config.py: the steps, the toolkit's folder; action None: the dump that cli.py npu_dump asks for."""
    config = project.folder / "precision_tool/lib/config/config.py"
    config.write_text(re.sub("^TF_DUMP_STEP = .*", 'TF_DUMP_STEP = "1"', config.read_text(), flags=re.MULTILINE))
    (project.folder / "train.py").write_text(TRAIN.format(edit=EDIT.format(None)))
    project.run(sys.executable, "precision_tool/cli.py", "npu_dump", f"{sys.executable} train.py")
    (graph,) = (project.folder / "precision_data/npu/debug_0/dump").glob("*/0/*step*/*")
    assert [path.name for path in graph.iterdir()] == ["1"]
    toolkit = project.folder / "toolkit/bin"
    toolkit.mkdir(parents=True)
    (toolkit / "atc").write_text("#!/bin/sh\necho of this toolkit >&2; exit 3\n")
    (toolkit / "atc").chmod(0o755)
    config.write_text(
        re.sub("^CMD_ROOT_PATH = .*", 'CMD_ROOT_PATH = "toolkit"', config.read_text(), flags=re.MULTILINE)
    )
    assert re.search("ERROR.*atc .* ends with 3: of this toolkit", project.tool("ls"))


@pytest.mark.parametrize(
    "line, reason",
    [
        ("vc -lt a", "1 folders are named"),
        ("vc -lt a -rt b", "a is no folder of a dump"),
        ("vc", "there is nothing to compare"),
        ("vcs", "holds no result"),
        ("vcs -f nowhere.csv", "nowhere.csv is neither a result"),
        ("vcs -c much", "invalid float value"),
        ("ni", "one of the arguments name -n/--name is required"),
        ("ni nobody", "holds no graph; run the script with action='dump'"),
        ("ls", "holds no graph"),
        ("pt a.npy", "a.npy is no file"),
        ("cp a.npy", "1 arrays are named"),
        ("dc nobody", "nobody is neither a dump file"),
        ("train -d all", "sessions, which is not built"),
    ],
)
def test_wrong_use_is_told(project, line, reason):
    """Without any data, in the prompt, which goes on, and as a command of its own, which ends with 1."""
    assert reason in project.tool(line, "run echo on") and "on" in project.tool(line, "run echo on").split()
    assert reason in project.run(sys.executable, "precision_tool/cli.py", *line.split(), code=1)


def test_actions_are_checked(project):
    start = "import sys; from precision_tool.lib import adapter; adapter.wanted(sys.argv[1])"
    for action, reason in (("dumb", "none of dump, overflow"), ("dump|overflow", "exclude each other")):
        done = subprocess.run([sys.executable, "-c", start, action], cwd=project.folder, capture_output=True, text=True)
        assert done.returncode == 1 and reason in done.stderr
