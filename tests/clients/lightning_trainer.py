# SPDX-License-Identifier: Apache-2.0
"""Lightning's Trainer on NPUs through an accelerator that its user writes: one NPU, and DDP on two.

    make clients   # all of them; it puts Lightning into build/clients
    PYTHONPATH=build/clients python tests/clients/lightning_trainer.py

Lightning knows no NPU; the classes NPU and Ranks below are all that it needs. The same module trains with Lightning on
the CPU, in one process: the mean of the ranks' losses is that of the whole batch. A Trainer that ends half way and
another that goes on from its checkpoint come to the same bits as one Trainer that was never interrupted.
"""

import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import lightning
import torch
import torch_npu
from lightning.pytorch.accelerators import Accelerator, AcceleratorRegistry
from lightning.pytorch.plugins import MixedPrecision
from lightning.pytorch.strategies import DDPStrategy, SingleDeviceStrategy
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler

STEPS, BATCH = 8, 8
# float32 differs by the order of sums, which grows step by step; bfloat16 and float16 round activations.
CLOSE = {"32-true": 2e-5, "bf16-mixed": 2e-2, "16-mixed": 2e-2}


class NPU(Accelerator):
    def setup_device(self, device):
        torch.npu.set_device(device)

    def teardown(self):
        torch.npu.empty_cache()

    @staticmethod
    def parse_devices(devices):
        return list(range(devices)) if isinstance(devices, int) else devices

    @staticmethod
    def get_parallel_devices(devices):
        return [torch.device("npu", i) for i in devices]

    @staticmethod
    def auto_device_count():
        return torch.npu.device_count()

    @staticmethod
    def is_available():
        return torch.npu.is_available()

    @staticmethod
    def name():
        return "npu"

    def get_device_stats(self, device):
        return torch.npu.memory_stats(device)


AcceleratorRegistry.register("npu", NPU, description="an NPU")


class Ranks(DDPStrategy):
    """Lightning 2.6 wraps the model in a stream of CUDA wherever devices have numbers (strategies/ddp.py:194)."""

    def _setup_model(self, model):
        return nn.parallel.DistributedDataParallel(
            model, device_ids=self.determine_ddp_device_ids(), **self._ddp_kwargs
        )


class Tiny(lightning.LightningModule):
    def __init__(self, seed):
        torch.manual_seed(seed)
        super().__init__()
        self.words = nn.Embedding(64, 32)
        layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0, activation="gelu", batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(32, 64)
        self.losses = []

    def training_step(self, ids):
        logits = self.head(self.layers(self.words(ids)))
        loss = nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
        self.losses.append(self.all_gather(loss.detach()).float().mean().item())
        return loss

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=1e-2)
        return [optimizer], [{"scheduler": torch.optim.lr_scheduler.StepLR(optimizer, 3), "interval": "step"}]

    def train_dataloader(self):
        """Rows that count upwards, which a model learns within a few steps; an epoch is half of the training."""
        g = torch.Generator().manual_seed(1)
        rows = (torch.randint(0, 64, (STEPS * BATCH // 2, 1), generator=g) + torch.arange(12)) % 64
        ranks = self.trainer.world_size
        # Left to itself Lightning shuffles what ranks share.
        sampler = DistributedSampler(rows, ranks, self.trainer.global_rank, shuffle=False)
        return DataLoader(rows, batch_size=BATCH // ranks, sampler=sampler)


def trainer(device, ranks, precision, epochs):
    arguments = {"accelerator": device, "devices": ranks, "precision": precision}
    if device == "npu":
        # Where a strategy is left to it, Lightning asks for CUDA: its own words for one device, and for ranks.
        backend = {"process_group_backend": "hccl", "parallel_devices": NPU.get_parallel_devices(range(ranks))}
        strategy = Ranks(**backend) if ranks > 1 else SingleDeviceStrategy(torch.device("npu", 0))
        if precision != "32-true":  # its scaler is CUDA's unless one is given
            scaler = torch.amp.GradScaler("npu") if precision == "16-mixed" else None
            arguments |= {"precision": None, "plugins": MixedPrecision(precision, "npu", scaler)}
        arguments |= {"accelerator": NPU(), "strategy": strategy}
    quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False}
    return lightning.Trainer(max_epochs=epochs, gradient_clip_val=1.0, use_distributed_sampler=False,
                             enable_checkpointing=False, **quiet, **arguments)  # fmt: skip


def fit(device, ranks, precision, epochs=2, seed=0, resume=None, save=None):
    model, runner = Tiny(seed), trainer(device, ranks, precision, epochs)
    runner.fit(model, ckpt_path=resume)
    if save:
        runner.save_checkpoint(save)
    return model.losses


def check(ranks, precision, expected, folder):
    path = folder / f"{ranks}-{precision}.ckpt"
    losses = fit("npu", ranks, precision)
    fit("npu", ranks, precision, epochs=1, save=path)
    again = fit("npu", ranks, precision, seed=7, resume=path)
    off = max(abs(a - b) / abs(b) for a, b in zip(losses, expected, strict=True))
    good = off < CLOSE[precision] and again == losses[STEPS // 2 :]
    how = "with the same bits" if again == losses[STEPS // 2 :] else f"as {again}"
    if os.environ.get("LOCAL_RANK", "0") == "0":
        print(f"{ranks} NPU, {precision}: {STEPS} steps, losses {losses[0]:.6f} to {losses[-1]:.6f}, at most {off:.1e} "
              f"from Lightning's on the CPU; resumed {how}{'' if good else '  DIFFERS'}", flush=True)  # fmt: skip
    return good


def ranks(folder):
    """Lightning starts a script anew for each rank; so this part is a script of its own, as a user's would be."""
    quiet = os.environ | {"OMP_NUM_THREADS": "1", "ANYNPU_THREADS": "1", "OMP_WAIT_POLICY": "passive"}
    return subprocess.call([sys.executable, __file__, folder], env=quiet)


def main():
    warnings.filterwarnings("ignore")
    number = 2 if sys.argv[1:] else 1
    with tempfile.TemporaryDirectory() as folder:
        place = Path(sys.argv[1] if sys.argv[1:] else folder)
        expected = torch.load(place / "expected") if number == 2 else fit("cpu", 1, "32-true")
        if number == 1:
            torch.save(expected, place / "expected")
        results = [check(number, precision, expected, place) for precision in CLOSE]
        if number == 1:
            print("lightning", lightning.__version__, "torch", torch.__version__, "torch_npu", torch_npu.__version__)
            results.append(ranks(folder) == 0)
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
