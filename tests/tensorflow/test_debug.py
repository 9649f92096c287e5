# SPDX-License-Identifier: Apache-2.0
"""op_debug_config, op_debug_level and debug_dir: what is asked for is in force when the first device is opened, and
files of what was compiled are written."""

import json
import os
import subprocess
import sys

import pytest
from npu_device.setting import debug

SCRIPT = """
import os
import tensorflow as tf
import npu_device as npu
for name, value in {options!r}.items():
    setattr(npu.global_options(), name, value)
npu.open().as_default()
w = tf.Variable(tf.ones([4, 3]))
step = tf.function(lambda x: tf.reduce_sum(tf.nn.relu(tf.matmul(x, w) * 2.0 - 4.0)))
assert float(step(tf.ones([2, 4]))) == 24
# The client's own mapping of device memory: in guard mode nobody may touch it.
print([line.split()[1] for line in open("/proc/self/maps") if "anynpu" in line and "memfd" in line])
"""


def run(folder, **options):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(options=options)], capture_output=True, text=True, cwd=folder,
        env={name: value for name, value in os.environ.items() if name != "ANYNPU_GUARD"}
        | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done


def opened(tmp_path, text, **options):
    path = tmp_path / "test0.cfg"
    path.write_text(text)
    return run(tmp_path, op_debug_config=str(path), **options)


def test_oom_guards_the_memory_of_the_device(tmp_path):
    guarded = opened(tmp_path, "op_debug_config = ccec_O0,ccec_g,oom\n")
    assert "---s" in guarded.stdout
    assert guarded.stderr.count("ccec_g changes nothing: what was compiled knows the nodes it comes from") == 1
    free = opened(tmp_path, "op_debug_config = dump_bin, dump_cce\n")
    assert "---s" not in free.stdout and "rw-s" in free.stdout
    assert "changes nothing" not in free.stderr


@pytest.mark.parametrize("text", ["", "oom", "op_debug_config = ", "op_debug_config = oom,fast", "debug = oom"])
def test_what_asks_for_nothing_known_is_refused(tmp_path, text):
    path = tmp_path / "test0.cfg"
    path.write_text(text)
    with pytest.raises(ValueError, match="option op_debug_config: .*test0.cfg has .*write op_debug_config = "):
        debug.words(path)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ValueError, match="op_debug_config: .*none.cfg cannot be read"):
        debug.words(tmp_path / "none.cfg")


def test_words_of_the_file_ask_for_files(tmp_path):
    opened(tmp_path, "op_debug_config = dump_bin,dump_loc\n")
    names = sorted(path.name for path in (tmp_path / "kernel_meta").iterdir())
    assert {name.rpartition("_1")[2] for name in names} == {".o", ".json", "_loc.json"}, names


LEVELS = {
    0: set(),
    1: {".o", ".json", ".cce", "_loc.json"},
    2: {".o", ".json", ".cce", "_loc.json"},
    3: {".o", ".json"},
    4: {".o", ".json", ".cce", "_compute.json"},
}


@pytest.mark.parametrize("level", LEVELS)
def test_levels_ask_for_files(tmp_path, level):
    done = run(tmp_path, op_debug_level=level, debug_dir=str(tmp_path / "there"))
    found = [path.name for path in (tmp_path / "there").glob("kernel_meta/*")]
    assert {name.rpartition("_1")[2] for name in found} == LEVELS[level]
    assert not (tmp_path / "kernel_meta").exists()
    assert ("debug_dir changes nothing: set op_debug_level" in done.stderr) == (level == 0)


def test_the_files_tell_what_was_compiled(tmp_path):
    run(tmp_path, op_debug_level=1)
    [stem] = [path.stem for path in (tmp_path / "kernel_meta").glob("*.o")]
    told = json.loads((tmp_path / "kernel_meta" / f"{stem}.json").read_text())
    assert (told["kernelName"], told["binFileName"], told["binFileSuffix"]) == (stem, stem, ".o")
    [product] = [step for step in told["steps"] if step["type"] == "MatMul" or step["type"] == "_FusedMatMul"]
    shapes = {tensor["field"]: (tensor["role"], tensor["dtype"], tensor["shape"]) for tensor in product["tensors"]}
    assert ("in", "float32", [2, 4]) in shapes.values() and ("in", "float32", [4, 3]) in shapes.values()
    assert product["attributes"]
    lines = (tmp_path / "kernel_meta" / f"{stem}.cce").read_text().splitlines()
    places = json.loads((tmp_path / "kernel_meta" / f"{stem}_loc.json").read_text())
    assert len(places) == len(told["steps"])
    for place in places:
        assert f'"{place["node"]}"' in lines[place["line"] - 1]
    assert lines[0].startswith("// The plan of function __inference_")


def test_nothing_is_optimised_where_that_is_asked_for(tmp_path):
    fused, plain = tmp_path / "fused", tmp_path / "plain"
    run(tmp_path, op_debug_level=1, debug_dir=str(fused))
    run(tmp_path, op_debug_level=2, debug_dir=str(plain))
    types = []
    for folder in (fused, plain):
        [path] = [path for path in folder.glob("kernel_meta/*.json") if not path.name.endswith("_loc.json")]
        types.append([step["type"] for step in json.loads(path.read_text())["steps"]])
    assert {"MatMul", "Mul", "Sub", "Relu", "Sum"} <= set(types[1])
    assert not {"Mul", "Sub", "Relu"} & set(types[0]), "the product does them"


def test_files_that_cannot_be_written_are_told_once(tmp_path):
    (tmp_path / "file").write_text("in the way")
    done = run(tmp_path, op_debug_level=1, debug_dir=str(tmp_path / "file"))
    assert done.stderr.count("cannot be written; set debug_dir to a folder with room") == 1
