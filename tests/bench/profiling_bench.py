# SPDX-License-Identifier: Apache-2.0
"""What records cost a training step: of a small CNN over digits, whose operators are so short that each record counts.
Off, on and off again alternate in one process; "off" is compared with itself in the same way.

python tests/bench/profiling_bench.py [--pairs 15]
"""

import argparse
import ctypes as C
import statistics
import tempfile

import torch
import torch.nn.functional as F
from anynpu.library import place
from step_time import seconds
from torch import nn

STEPS = 100  # of one timing
# ACL_PROF_* of each level, as torch_npu's profiler asks for them, and the factor that is allowed.
LEVELS = {"off": (None, None), "level 0": (0x0801, 1.03), "level 1": (0x0803, 1.10)}


def training_step():
    torch.manual_seed(0)
    layers = (
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
        nn.Flatten(), nn.Linear(32 * 16, 10),
    )  # fmt: skip
    model = nn.Sequential(*layers).npu()
    x, y = torch.randn(64, 1, 8, 8).npu(), torch.randint(0, 10, (64,)).npu()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def step():
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step


class Profiling:
    """aclprofStart and aclprofStop; each collection is a folder below one that goes with this."""

    def __init__(self, folder):
        self.library = C.CDLL(str(place.libraries() / place.CORE))
        self.library.aclprofCreateConfig.restype = C.c_void_p
        path = str(folder).encode()
        assert self.library.aclprofInit(path, C.c_size_t(len(path))) == 0

    def seconds(self, step, kinds):
        if kinds is None:
            return seconds(step, STEPS)
        config = C.c_void_p(self.library.aclprofCreateConfig((C.c_uint32 * 1)(0), 1, 255, None, C.c_uint64(kinds)))
        assert self.library.aclprofStart(config) == 0
        taken = seconds(step, STEPS)
        assert self.library.aclprofStop(config) == 0
        return taken


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=15)
    args = parser.parse_args()
    step = training_step()
    for _ in range(3):
        seconds(step, STEPS)
    factors = {level: [] for level in LEVELS}
    with tempfile.TemporaryDirectory() as folder:
        profiling = Profiling(folder)
        for _ in range(args.pairs):
            for level, (kinds, _) in LEVELS.items():
                before = seconds(step, STEPS)
                taken = profiling.seconds(step, kinds)
                factors[level].append(2 * taken / (before + seconds(step, STEPS)))
        profiling.library.aclprofFinalize()
    print(f"digits CNN, a step without records: {1e6 * before:.0f} us")
    for level, (_, allowed) in LEVELS.items():
        low, middle, high = statistics.quantiles(factors[level], n=4)
        target = f" (target: at most {allowed:.2f}x)" if allowed else ""
        print(f"{level}: {middle:.3f}x [{low:.3f}, {high:.3f}] the step without{target}")


if __name__ == "__main__":
    main()
