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


LACKING = """
import json, warnings
warnings.simplefilter("ignore")
import torch, torch_npu
x = torch.ones(4, 4).to(torch.bfloat16).npu()
half = torch.ones(4, 4).half().npu()
calls = {
    "aclnnAdd": lambda: x + x, "Mm": lambda: x @ x, "Softmax": lambda: x.softmax(-1), "Cast": lambda: x.float(),
    "Cast back": lambda: half.to(torch.bfloat16), "Zero": lambda: torch.zeros(3, dtype=torch.bfloat16, device="npu"),
    "Foreach": lambda: torch._foreach_add([x, x], 1),
}
told = {"supported": torch.npu.is_bf16_supported(), "moved": x.cpu().float().sum().item()}
for name, call in calls.items():
    try:
        call()
        torch.npu.synchronize()
        told[name] = "computed"
    except RuntimeError as error:
        told[name] = str(error)
told["half"] = (half + half).cpu().sum().item()
print(json.dumps(told))
"""


@pytest.mark.promise("bfloat16 on a SoC without it (`ANYNPU_SOC=Ascend910A`, `Ascend310P3`) is refused with its name")
@pytest.mark.parametrize("soc", ["Ascend910A", "Ascend310P3"])
def test_bfloat16_is_refused_where_the_soc_has_none(soc):
    done = subprocess.run([sys.executable, "-c", LACKING], capture_output=True, text=True, timeout=300,
                          env=os.environ | {"ANYNPU_SOC": soc})  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert not told.pop("supported") and told.pop("moved") == 16 and told.pop("half") == 32
    assert "161002" in told["aclnnAdd"] and "aclnnAdd takes no bfloat16" in told["aclnnAdd"]
    for name, text in told.items():
        assert f"takes no bfloat16 on {soc}" in text and "cast to float16 or float32" in text, (name, text)
        assert "ANYNPU_SOC" in text, name
