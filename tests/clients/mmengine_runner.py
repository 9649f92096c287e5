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
from torch import nn  # noqa: E402

RANKS = int(os.environ["WORLD_SIZE"])


class Tiny(BaseModel):
    def __init__(self, seed):
        torch.manual_seed(seed)
        super().__init__()
        self.words = nn.Embedding(64, 32)
        layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0, activation="gelu", batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(32, 64)

    def forward(self, ids, mode="loss"):
        logits = self.head(self.layers(self.words(ids)))
        return {"loss": nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1).float(), ids[:, 1:].flatten())}


def rows():
    """Rows that count upwards: what a model learns within a few steps, so that a step left out is seen in the loss."""
    g = torch.Generator().manual_seed(1)
    return (torch.randint(0, 64, (STEPS * BATCH, 1), generator=g) + torch.arange(12)) % 64


class Losses(Hook):
    def __init__(self):
        self.found = []

    def after_train_iter(self, runner, batch_idx, data_batch=None, outputs=None):
        whole = outputs["loss"].detach().float().clone()
        all_reduce(whole, "mean")
        self.found.append(whole.item())


def on_the_cpu():
    model, losses = Tiny(0), []
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for ids in rows().split(BATCH):
        loss = model(ids)["loss"]
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


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
            "dataset": [{"ids": row} for row in rows()],
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
    off = max(abs(a - b) / abs(b) for a, b in zip(losses, expected, strict=True))
    good = off < CLOSE[precision] and again == losses[STEPS // 2 :]
    how = "with the same bits" if again == losses[STEPS // 2 :] else f"as {again}"
    if os.environ["RANK"] == "0":
        print(f"{RANKS} NPU, {precision}: {STEPS} steps, losses {losses[0]:.6f} to {losses[-1]:.6f}, at most {off:.1e} "
              f"from the CPU's; resumed {how}{'' if good else '  DIFFERS'}", flush=True)  # fmt: skip
    return good


def main():
    if os.environ["RANK"] == "0" and RANKS == 1:
        print("mmengine", mmengine.__version__, "torch", torch.__version__, "torch_npu", torch_npu.__version__)
    expected = on_the_cpu()
    results = [check(precision, expected, sys.argv[1]) for precision in CLOSE]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
