# SPDX-License-Identifier: Apache-2.0
"""What `pip install .` has put into the environment is what `pip uninstall` takes back, and pulls nothing by itself."""

import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

try:
    INSTALLED = metadata.distribution("anynpu")
except metadata.PackageNotFoundError:
    pytest.skip("AnyNPU is not installed here; make test installs it", allow_module_level=True)
SITE = Path(str(INSTALLED.locate_file(""))).resolve()


@pytest.mark.promise("uninstalling leaves nothing behind")
def test_every_file_is_in_pips_list():
    known = {Path(str(file.locate())).resolve() for file in INSTALLED.files}
    found = {
        path
        for name in ("anynpu", "apex", "npu_bridge", "npu_device", "torch_npu.libs")
        for path in (SITE / name).rglob("*")
        if path.is_file()
    }
    assert {path for path in found - known if "__pycache__" not in path.parts} == set()
    assert SITE / "torch_npu.libs/libascendcl.so" in known and SITE / "acl.abi3.so" in known


def test_the_bare_package_pulls_nothing():
    assert [line for line in INSTALLED.requires or [] if "extra ==" not in line] == []


def test_the_extras_pin_the_frameworks():
    text = "\n".join(INSTALLED.requires)
    assert re.search(r"^torch==[\d.]+ *;.*torch", text, re.M) and re.search(r"^torch-npu==", text, re.M)
    assert re.search(r"^tensorflow-cpu==", text, re.M)
    assert re.search(r"^onnx==[\d.]+ *;.*export", text, re.M) and re.search(r"^onnxscript==", text, re.M)


def test_the_licences_of_what_is_bundled_are_there():
    libraries = {path.stem.removeprefix("libanynpu_") for path in (SITE / "anynpu/lib64").glob("libanynpu_*.so")}
    bundled = libraries - {"tensorflow", "torch"}  # our own adapters
    compiled_in = {"libprotozero-dev", "nlohmann-json3-dev", "libcli11-dev", "libyaml-cpp-dev", "libexpat1-dev"}
    compiled_in |= {"libsqlite3-dev"}
    compiled_in |= {"tree-sitter", "tree-sitter-python"}
    assert bundled | compiled_in == {
        folder.name for folder in (SITE / "anynpu/licenses").iterdir() if any(folder.iterdir())
    }


@pytest.mark.parametrize(
    "script",
    [
        "npu_device/convert_tf2npu/main.py",
        "npu_bridge/convert_tf2npu/main.py",
        "anynpu/tools/ms_fmk_transplt/ms_fmk_transplt.py",
    ],
)
def test_the_migration_stands_where_the_guides_look(script, tmp_path):
    done = subprocess.run([sys.executable, SITE / script, "-h"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0 and "--input" in done.stdout, done.stderr


def test_the_migration_of_npu_bridge_is_that_of_tensorflow_1(tmp_path):
    (tmp_path / "net").mkdir()
    (tmp_path / "net/train.py").write_text("import tensorflow as tf\nwith tf.Session() as sess:\n    pass\n")
    command = [sys.executable, SITE / "npu_bridge/convert_tf2npu/main.py", "-i", "net", "-r", "there"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    (made,) = tmp_path.glob("there/output_npu_*/net_npu_*/train.py")
    assert "from npu_bridge.npu_init import *" in made.read_text()


@pytest.mark.parametrize("name", ["set_env.sh", "bin/setenv.bash", "tfplugin/set_env.sh", "doctor/unbuilt.tsv"])
def test_what_scripts_and_commands_read_is_there(name):
    assert (SITE / "anynpu" / name).stat().st_size > 0


def test_the_vendors_command_for_logs_of_a_device():
    command = [Path(sys.executable).parent / "msnpureport", "-g", "error", "-d", "0"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "") and "ASCEND_GLOBAL_LOG_LEVEL" in done.stdout


@pytest.mark.parametrize("command", ["convert_tf2npu", "ms_fmk_transplt"])
def test_the_migration_has_its_vendors_names(command, tmp_path):
    done = subprocess.run([Path(sys.executable).parent / command, "-h"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0 and f"Usage: {command}" in done.stdout, done.stderr
