# SPDX-License-Identifier: Apache-2.0
"""msprobe's PrecisionDebugger on the NPU, and its compare of the NPU's run with the CPU's.

    make clients   # all of them; it puts msprobe into build/clients-msprobe
    PYTHONPATH=build/clients-msprobe python tests/clients/msprobe_debugger.py

A convolutional network and a transformer train for two steps, on the CPU and on the NPU, with statistics and with
tensors, at levels L0 (modules), L1 (calls) and mix. msprobe's own compare must take both runs, match each line of one
with a line of the other, and pass them. Level L2 dumps the kernels of one call, which torch-npu asks the NPU for.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

STEPS = 2
CALL = "Functional.conv2d.0.forward"  # whose kernels L2 dumps
QUIET = {"OMP_NUM_THREADS": "1", "ANYNPU_THREADS": "1", "OMP_WAIT_POLICY": "passive"}


def call(*arguments):
    done = subprocess.run(
        [sys.executable, *map(str, arguments)], env=os.environ | QUIET, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"msprobe: {' '.join(map(str, arguments))} failed\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def rows_of(folder):
    (file,) = folder.glob("compare_result_*.csv")
    with open(file, newline="", encoding="utf-8-sig") as lines:
        return list(csv.DictReader(lines))


def check(task, level, folder):
    """True where msprobe passes the NPU's run."""
    for device in ("cpu", "npu"):
        call(__file__, device, task, level, folder / device)
    dumps = [next((folder / device).glob("step1/proc*/dump.json")) for device in ("npu", "cpu")]
    call("-m", "msprobe.msprobe", "compare", "-tp", dumps[0], "-gp", dumps[1], "-o", folder / "result")
    rows = rows_of(folder / "result")
    alone = [row for row in rows if "N/A" in (row["NPU Name"], row["Bench Name"])]
    bad = [row for row in rows if row["Result"] != "pass"]
    print(f"{task}, {level}: {len(rows)} lines compared, {len(bad)} do not pass, {len(alone)} without a partner")
    for row in [*bad, *alone][:10]:
        print("   ", {name: text for name, text in row.items() if text})
    return len(rows) > 20 and not bad and not alone


def check_kernels(folder):
    call(__file__, "npu", "tensor", "L2", folder)
    files = [path.name for path in folder.rglob("*") if path.is_file() and path.suffix not in (".json", ".csv")]
    print(f"tensor, L2: the kernels of {CALL}: {', '.join(sorted(files)) or 'none'}")
    return any(name.startswith("Convolution.") for name in files)


def launch():
    from importlib.metadata import version

    print("msprobe", version("mindstudio-probe"), "torch", version("torch"), "torch_npu", version("torch_npu"))
    with tempfile.TemporaryDirectory() as folder:
        results = [
            check(task, level, Path(folder, f"{task}-{level}"))
            for task in ("statistics", "tensor")
            for level in ("L0", "L1", "mix")
        ]
        results.append(check_kernels(Path(folder, "kernels")))
    sys.exit(0 if all(results) else "msprobe: DIFFERS")


if __name__ == "__main__" and len(sys.argv) == 1:
    launch()

import torch  # noqa: E402 - the launcher above needs none of these
import torch_npu  # noqa: E402, F401
from msprobe.pytorch import PrecisionDebugger, seed_all  # noqa: E402
from torch import nn  # noqa: E402


class Both(nn.Module):
    """A convolutional network and a transformer over the same images. Every gradient is more than its roundings (the
    bias before a normalization has none, so none is there), and the images have one, as msprobe compares it."""

    def __init__(self):
        super().__init__()
        self.cnn = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 8, 3, padding=1), nn.GELU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(32, 10),
        )  # fmt: skip
        self.patches = nn.Linear(48, 32)
        layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0, activation="gelu", batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        patches = x.unfold(2, 4, 4).unfold(3, 4, 4).permute(0, 2, 3, 1, 4, 5).flatten(3).flatten(1, 2)
        return self.cnn(x) + self.head(self.layers(self.patches(patches)).mean(1))


def train(device, debugger):
    model = Both().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    g = torch.Generator().manual_seed(1)
    images, labels = torch.randn(STEPS, 4, 3, 16, 16, generator=g), torch.randint(0, 10, (STEPS, 4), generator=g)
    for x, y in zip(images.to(device), labels.to(device), strict=True):
        debugger.start(model=model)
        loss = nn.functional.cross_entropy(model(x.clone().requires_grad_()), y)
        loss.backward()
        debugger.stop()
        optimizer.step()
        optimizer.zero_grad()
        debugger.step()


def main():
    device, task, level, folder = sys.argv[1:]
    Path(folder).mkdir(parents=True)
    words = {"list": [CALL] if level == "L2" else [], "scope": [], "data_mode": ["all"]}
    config = {"task": task, "dump_path": folder, "rank": [], "step": [1], "level": level, task: words}
    Path(folder, "config.json").write_text(json.dumps(config))
    seed_all(0)
    train(device, PrecisionDebugger(config_path=f"{folder}/config.json"))


if __name__ == "__main__":
    main()
