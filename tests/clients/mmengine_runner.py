# SPDX-License-Identifier: Apache-2.0
"""mmengine's Runner on NPUs: float32 and AMP, on one NPU and with its DDP on two.

    make clients   # all of them; it puts mmengine into build/clients
    PYTHONPATH=build/clients python tests/clients/mmengine_runner.py

mmengine takes the NPU, and hccl for ranks, by itself. A Runner trains a tiny transformer against plain torch in one
process on the CPU; the mean of the ranks' losses is that of the whole batch. CheckpointHook writes half way; a Runner
with other weights resumes from there and goes on to the same bits.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

STEPS, BATCH = 8, 8
# float32 differs by the order of sums, which grows step by step; the others round activations.
CLOSE = {"float32": 2e-5, "bfloat16": 2e-2, "float16": 2e-2}


def launch():
    quiet = {"OMP_NUM_THREADS": "1", "ANYNPU_THREADS": "1", "OMP_WAIT_POLICY": "passive"}
    # mmengine's checkpoints hold its log, which torch.load refuses since 2.6 unless this is said, on any device.
    quiet["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        for ranks in (1, 2):
            command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
            if subprocess.call([*command, __file__, folder], env=os.environ | quiet):
                sys.exit(f"mmengine: failed on {ranks} NPU")


if __name__ == "__main__" and "RANK" not in os.environ:
    launch()
    sys.exit(0)

import mmengine  # noqa: E402 - the launcher above needs none of these
import torch  # noqa: E402
import torch_npu  # noqa: E402
from mmengine.dist import all_reduce  # noqa: E402
from mmengine.hooks import Hook  # noqa: E402
from mmengine.model import BaseModel  # noqa: E402
from mmengine.runner import Runner  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import tiny_text  # noqa: E402

RANKS = int(os.environ["WORLD_SIZE"])


class Tiny(tiny_text.Layers, BaseModel):
    def forward(self, ids, mode="loss"):
        return {"loss": self.loss_of(ids)}


class Losses(Hook):
    def __init__(self):
        self.found = []

    def after_train_iter(self, runner, batch_idx, data_batch=None, outputs=None):
        whole = outputs["loss"].detach().float().clone()
        all_reduce(whole, "mean")
        self.found.append(whole.item())


def train(precision, folder, seed=0, resume=None):
    """The losses of a Runner, which writes a checkpoint half way."""
    losses = Losses()
    wrapper = {"type": "OptimWrapper", "optimizer": {"type": "AdamW", "lr": 1e-2}, "clip_grad": {"max_norm": 1.0}}
    if precision != "float32":
        wrapper |= {"type": "AmpOptimWrapper", "dtype": precision, "loss_scale": 256.0}
    runner = Runner(
        model=Tiny(seed),
        work_dir=folder,
        train_dataloader={
            "batch_size": BATCH // RANKS,
            "num_workers": 0,
            "dataset": [{"ids": row} for row in tiny_text.rows(STEPS * BATCH)],
            "sampler": {"type": "DefaultSampler", "shuffle": False},
            "collate_fn": {"type": "default_collate"},
        },
        train_cfg={"by_epoch": False, "max_iters": STEPS},
        optim_wrapper=wrapper,
        default_hooks={"checkpoint": {"type": "CheckpointHook", "by_epoch": False, "interval": STEPS // 2}},
        custom_hooks=[losses],
        launcher="pytorch" if RANKS > 1 else "none",
        experiment_name=f"{RANKS}-{precision}-{seed}",
        log_level="ERROR",
        load_from=resume,
        resume=resume is not None,
    )
    runner.train()
    assert next(runner.model.parameters()).is_npu
    return losses.found


def check(precision, expected, folder):
    folder = f"{folder}/{RANKS}-{precision}"
    losses = train(precision, folder)
    again = train(precision, f"{folder}-resumed", 7, f"{folder}/iter_{STEPS // 2}.pth")
    good, line = tiny_text.judged(f"{RANKS} NPU, {precision}", losses, expected, CLOSE[precision], again)
    if os.environ["RANK"] == "0":
        print(line, flush=True)
    return good


def main():
    if os.environ["RANK"] == "0" and RANKS == 1:
        print("mmengine", mmengine.__version__, "torch", torch.__version__, "torch_npu", torch_npu.__version__)
    expected = tiny_text.on_the_cpu(tiny_text.rows(STEPS * BATCH).split(BATCH))
    results = [check(precision, expected, sys.argv[1]) for precision in CLOSE]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
