# SPDX-License-Identifier: Apache-2.0
"""Scripts as processes of a training, each of them a rank."""

import json
import os
import subprocess
import sys
from pathlib import Path

import fresh
import npu_device
import python_process

PACKAGES = [Path(npu_device.__file__).parents[1], Path(__file__).parents[2] / "adapters/hccl"]
HEAD = (
    fresh.HEAD
    + """
import json
warnings.simplefilter("ignore")
import numpy as np
import tensorflow as tf
import npu_device as npu
npu.open().as_default()
from npu_device.distribute import hccl_ops
"""
)


def table(folder, devices):
    path = folder / "rank_table.json"
    members = [{"device_id": str(d), "device_ip": f"192.0.2.{d + 1}", "rank_id": str(i)} for i, d in enumerate(devices)]
    server = {"server_id": "192.0.2.100", "device": members}
    path.write_text(json.dumps({"version": "1.0", "status": "completed", "server_count": "1", "server_list": [server]}))
    return str(path)


def start(script, **variables):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("RANK", "CM_", "WORLD_", "ASCEND_DEVICE"))}
    paths = os.pathsep.join([*map(str, PACKAGES), kept.get("PYTHONPATH", "")])
    kept |= {"PYTHONPATH": paths, "HCCL_CONNECT_TIMEOUT": "60", "JOB_ID": f"cluster-{os.getpid()}"}
    return python_process.start([sys.executable, "-c", script], env=kept | variables, text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip


def together(script, folder, count=2, limit=300):
    """What each of `count` ranks prints, which must all end well. A rank knows its `rank` and the `count`."""
    path = table(folder, range(count))
    head = "import os\nrank, count = int(os.environ['RANK_ID']), int(os.environ['RANK_SIZE'])\n"
    started = [
        start(head + script, RANK_TABLE_FILE=path, RANK_ID=str(i), RANK_SIZE=str(count), TF_CPP_MIN_LOG_LEVEL="2")
        for i in range(count)
    ]
    outputs = [process.communicate(timeout=limit)[0] for process in started]
    assert [process.returncode for process in started] == [0] * count, "\n".join(outputs)[-4000:]
    return outputs


def alone(script):
    """The same in a process that trains alone."""
    process = start("rank, count = 0, 1\n" + script, TF_CPP_MIN_LOG_LEVEL="2")
    output = process.communicate(timeout=300)[0]
    assert process.returncode == 0, output
    return output


def weights(output):
    """What a script printed behind WEIGHTS."""
    return json.loads(output.split("WEIGHTS ")[1].splitlines()[0])


def same(a, b, tolerance):
    """Nested lists of numbers, relative to the largest."""
    if isinstance(a, list) and a and not isinstance(a[0], float):
        assert len(a) == len(b)
        for one, other in zip(a, b, strict=True):
            same(one, other, tolerance)
        return
    largest = max(map(abs, b), default=0)
    assert max((abs(x - y) for x, y in zip(a, b, strict=True)), default=0) <= tolerance * max(largest, 1)
