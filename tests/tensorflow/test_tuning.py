# SPDX-License-Identifier: Apache-2.0
"""AOE on TensorFlow: by option and by variable, by the command on a frozen graph; what it writes, and that it changes
no result but its rounding."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import npu_device as npu
import numpy as np
import pytest
import tensorflow as tf
from npu_device.setting import tuning
from npu_device.setting.options import Options

SCRIPT = """
import sys
import numpy as np
import tensorflow as tf
import npu_device as npu
{options}
npu.open().as_default()
tf.keras.utils.set_random_seed(1)
layers = tf.keras.layers
model = tf.keras.Sequential([
    layers.Input((16, 16, 16)), layers.Conv2D(32, 3, padding="same", activation="gelu"), layers.Conv2D(32, 3),
    layers.LayerNormalization(), layers.Flatten(), layers.Dense(64, "relu"), layers.Dense(10)])
model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(True), run_eagerly=False)
rng = np.random.default_rng(0)
x, y = rng.normal(size=(16, 16, 16, 16)).astype("float32"), rng.integers(0, 10, 16)
print("losses", [float(model.train_on_batch(x, y)) for _ in range(3)])
"""


def run(folder, options="", **variables):
    """(losses, lines of AOE, all of stderr)"""
    path = folder / "script.py"
    path.write_text(SCRIPT.format(options=options))
    packages = os.pathsep.join([str(Path(npu.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    variables = {"TUNE_BANK_PATH": str(folder / "bank"), "AOE_MODE": "", **variables}
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, cwd=folder, timeout=300,
                          env={**os.environ, "PYTHONPATH": packages, **variables})  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    losses = json.loads(next(line for line in lines if line.startswith("losses"))[len("losses ") :])
    return losses, [line for line in lines if line.startswith("[Aoe]")], done.stderr


def report(folder, kind):
    (file,) = folder.glob(f"aoe_result_{kind}_*.json")
    ((name, (basic, result)),) = json.loads(file.read_text()).items()
    assert re.fullmatch(r"report_\d{14}_\d+", name)
    assert re.fullmatch(rf"aoe_result_{kind}_\d{{14}}_\d+\.json", file.name)
    return basic["basic"], result[kind.upper()]


def entries(folder, job):
    (file,) = (folder / "bank/custom" / job).glob("*/*.json")
    return json.loads(file.read_text())["entries"]


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    """A folder with banks of both jobs."""
    folder = tmp_path_factory.mktemp("tuned")
    without = run(folder)
    assert not (folder / "bank").exists() and without[1] == []
    runs = {}
    for mode in ("2", "1"):
        (folder / mode).mkdir()
        option = f'npu.global_options().aoe_config.aoe_mode = "{mode}"'
        work = f'npu.global_options().aoe_config.work_path = "{folder / mode}"'
        runs[mode] = run(folder, f"{option}\n{work}", AOE_MODE="4")  # the script comes before the variable
    return folder, without[0], runs


def test_training_is_the_same_while_it_is_tuned(tuned):
    _, losses, runs = tuned
    for mode in runs:
        np.testing.assert_allclose(runs[mode][0], losses, rtol=1e-5)


def test_console_and_report_of_operators(tuned):
    folder, _, runs = tuned
    lines = runs["2"][1]
    assert lines[0].startswith("[Aoe] tuning of operators begins") and "[Aoe] tuning of operators ends" in lines[-1]
    basic, result = report(folder / "2", "opat")
    found = entries(folder, "op")
    counts = result["repo_summary"]
    assert basic["tuning_time(s)"] >= 0 and basic["threads"] >= 1
    assert {"conv_way", "product_parts", "chain_tile"} & {entry["point"] for entry in found}
    added = result.get("repo_modified_operators", {}).get("add_repo_operators", [])
    assert len(added) == counts["repo_add_num"] == sum(entry["won"] for entry in found)
    assert counts["repo_reserved_num"] == sum(not entry["won"] for entry in found)
    assert result["opat_tune_result"] == ("tuning successful" if added else "tuning no improvement")
    for row in added:
        assert row["performance_after_tune(us)"] < row["performance_before_tune(us)"]


def test_report_of_graphs(tuned):
    folder = tuned[0]
    _, result = report(folder / "1", "sgat")
    assert result["repo_summary"]["total_num"] >= 1
    assert {(e["point"], e["way"], e["usual"]) for e in entries(folder, "graph")} == {("fused_node", "parts", "whole")}


@pytest.mark.promise("AOE: kernels and fused nodes are measured while a program runs; later runs use what won")
def test_what_won_is_used_by_itself_and_computes_the_same(tuned):
    folder, losses, _ = tuned
    again, said, _ = run(folder)
    assert said == []
    np.testing.assert_allclose(again, losses, rtol=1e-5)
    assert again == run(folder, ANYNPU_THREADS="1")[0], "bits follow the bank, not the threads"


def test_a_second_run_measures_nothing(tuned):
    folder = tuned[0]
    before = entries(folder, "op")
    (folder / "again").mkdir()
    run(folder, f'npu.global_options().aoe_config.work_path = "{folder / "again"}"', AOE_MODE="2")
    assert entries(folder, "op") == before
    _, result = report(folder / "again", "opat")
    counts = result["repo_summary"]
    assert counts["repo_hit_num"] + counts["repo_reserved_num"] == counts["total_num"] > 0


def test_only_what_the_configuration_names_is_tuned(tmp_path):
    (tmp_path / "tuning.cfg").write_text('{"tune_ops_type": ["LayerNorm"], "feature": ["nonhomo_split"]}')
    option = f'npu.global_options().aoe_config.aoe_config_file = "{tmp_path / "tuning.cfg"}"'
    _, lines, told = run(tmp_path, option, AOE_MODE="2")
    assert ": 0 choices met, 0 new" in lines[-1]
    assert "nonhomo_split has no effect" in told


def test_gradient_segments_are_told(tmp_path):
    _, lines, told = run(tmp_path, 'npu.global_options().aoe_config.aoe_mode = "4"')
    assert lines == [] and "gradient segments" in told and "1 tunes graphs, 2 operators" in told


def refused(**values):
    options = Options()
    for name, value in values.items():
        setattr(options.aoe_config, name, value)
    with pytest.raises(ValueError) as refusal:
        tuning.start(options)
    return str(refusal.value)


def test_what_cannot_be_is_refused(tmp_path):
    assert "which cannot be read" in refused(aoe_mode="2", aoe_config_file=str(tmp_path / "none"))
    assert "no folder that can be written" in refused(aoe_mode="2", work_path=str(tmp_path / "none"))
    (tmp_path / "wrong.cfg").write_text('{"tune_optimization_level": "O3"}')
    assert '"O3"; write "O1" or "O2"' in refused(aoe_mode="2", aoe_config_file=str(tmp_path / "wrong.cfg"))


def test_a_mode_of_the_variable_that_is_none_is_refused(monkeypatch):
    monkeypatch.setenv("AOE_MODE", "3")
    assert "3 is no job of tuning" in refused()


@pytest.fixture
def frozen(tmp_path):
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [None, 24, 24, 16], "x")
        y = tf.nn.relu(tf.nn.conv2d(x, tf.ones([3, 3, 16, 32]) * 0.01, 1, "SAME"))
        tf.identity(tf.matmul(tf.reshape(y, [-1, 24 * 24 * 32]), tf.ones([24 * 24 * 32, 10])), "y")
    path = tmp_path / "model.pb"
    path.write_bytes(graph.as_graph_def().SerializeToString())
    return path


def aoe(folder, *words):
    packages = os.pathsep.join([str(Path(npu.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    code = "import sys; from anynpu.aoe import main; sys.exit(main())"
    variables = {**os.environ, "PYTHONPATH": packages, "TUNE_BANK_PATH": str(folder / "bank")}
    command = [sys.executable, "-c", code, *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=300, env=variables)


def test_the_command_tunes_a_frozen_graph(frozen, tmp_path):
    done = aoe(tmp_path, "--framework=3", f"--model={frozen}", "--job_type=2", "--input_shape=x:4,24,24,16")
    assert done.returncode == 0, done.stdout + done.stderr
    assert any(entry["point"] == "conv_way" for entry in entries(tmp_path, "op"))
    report(tmp_path, "opat")


def test_the_command_says_which_size_is_open(frozen, tmp_path):
    done = aoe(tmp_path, "--framework=3", f"--model={frozen}", "--job_type=2")
    assert done.returncode == 1 and "leaves sizes of x open" in done.stderr and "[Aoe] [ERROR]" in done.stdout
    done = aoe(tmp_path, "--framework=3", f"--model={frozen}", "--job_type=2", "--input_shape=x:4,24,24,16;z:1")
    assert done.returncode == 1 and "--input_shape names z; the graph's inputs are" in done.stderr
