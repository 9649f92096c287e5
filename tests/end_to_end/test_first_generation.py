# SPDX-License-Identifier: Apache-2.0
"""Training in float16 on an Ascend910A, which has no infinities: GradScaler sees overflow by the device's word."""

import json
import os
import subprocess
import sys
from pathlib import Path

import movement
import numpy as np
import pytest

SCRIPT = Path(__file__).with_name("scaled.py")


def run(*arguments, **variables):
    done = subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, timeout=300,
                          env=os.environ | variables)  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("moved")


@pytest.fixture(scope="module")
def trained(folder):
    return run(str(folder), "cpu"), run(str(folder), ANYNPU_SOC="Ascend910A")


def test_the_device_saturates_and_its_word_tells(trained):
    told = trained[1]
    assert told["device"] == "Ascend910A" and not told["inf_nan"]
    assert told["half"] == [65504, 65504] and told["flag"] == [True, False]


@pytest.mark.promise("`GradScaler` where overflow saturates (`ANYNPU_SOC=Ascend910A`), torch's and the vendor's")
@pytest.mark.parametrize("name", ["mlp", "resnet18"])
@pytest.mark.parametrize("kind", ["torch", "vendor"])
def test_grad_scaler_trains_and_leaves_out_what_overflows(trained, kind, name):
    cpu, ours = trained[0][name]["steps"], trained[1][f"{kind} {name}"]
    losses, scales, moved = zip(*ours["steps"], strict=True)
    assert ours["finite"] and moved == (True, True, True, False, True, True)
    assert scales == (1024, 2048, 2048, 1024, 1024, 2048), "grows after two good steps, halves after a bad one"
    apart = [abs(a - b[0]) / abs(b[0]) for a, b in zip(losses[:3] + losses[4:], cpu, strict=True)]
    print(f"{kind} {name}: float16 on a 910A and float32 on the CPU are apart by at most {max(apart):.1e}")
    assert max(apart) <= 0.02


@pytest.mark.parametrize("name", ["mlp", "resnet18"])
@pytest.mark.parametrize("kind", ["torch", "vendor"])
def test_the_weights_move_as_in_float32(trained, folder, kind, name):
    ours, cpu, exact = (dict(np.load(folder / f"{of} {name}.npz")) for of in (kind, "cpu", "exact"))
    movement.assert_alike(ours, exact, own=movement.apart(cpu, exact)[0])
