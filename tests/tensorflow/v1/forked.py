# SPDX-License-Identifier: Apache-2.0
"""Scripts that run one after the other, each in a process of its own; TensorFlow is loaded once for all of them."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TESTS = HERE.parents[1]


def environment(**more):
    """Where the packages are found, with TensorFlow's log lines shown."""
    paths = [more.pop("PYTHONPATH", ""), str(TESTS.parent / "tools"), os.environ.get("PYTHONPATH", "")]
    if importlib.util.find_spec("npu_device").origin.startswith(str(TESTS.parent / "adapters")):
        paths.append(str(TESTS.parent / "adapters/tensorflow"))  # not installed
    return os.environ | {"PYTHONPATH": ":".join(filter(None, paths)), "TF_CPP_MIN_LOG_LEVEL": "0"} | more


def migration():
    """The script of the migration tool for TensorFlow 1."""
    packages = [Path(place) for place in importlib.util.find_spec("npu_bridge").submodule_search_locations]
    installed = [path / "convert_tf2npu/main.py" for path in packages]
    source = TESTS.parent / "tools/anynpu/tools/convert_tf2npu/tensorflow1.py"
    return next((path for path in installed if path.exists()), source)


def run(folder, cases, **more):
    """Runs the cases {name: (script, argument, …)} in folders of these names below `folder`."""
    orders = []
    for name, (script, *arguments) in cases.items():
        place = folder / name
        place.mkdir()
        order = {"script": str(script), "folder": str(place), "arguments": arguments}
        order["environment"] = {"DUMP_GRAPH_PATH": str(place / "graphs")}
        order["report"] = str(place / "report.json")
        orders.append(order | {kind: str(place / kind) for kind in ("log", "result")})
    command = [sys.executable, TESTS / "migrate/train.py", "tensorflow"]
    subprocess.run(command, input=json.dumps(orders), env=environment(**more), text=True, check=True)


def log(folder, name):
    """What a case printed, which must have ended well and computed on the NPU."""
    place = folder / name
    text = (place / "log").read_text(errors="replace")
    assert (place / "result").exists(), f"{name} was killed or never started\n{text[-3000:]}"
    result = json.loads((place / "result").read_text())
    assert result["status"] == 0, text[-3000:]
    functions = json.loads((place / "report.json").read_text())["functions"]
    assert sum(one["native_nodes"] for one in functions) > 0, f"{name} computed nothing on the NPU"
    return text
