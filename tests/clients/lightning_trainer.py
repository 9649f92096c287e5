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

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import tiny_text  # noqa: E402

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


class Tiny(tiny_text.Layers, lightning.LightningModule):
    def __init__(self, seed):
        super().__init__(seed)
        self.losses = []

    def training_step(self, ids):
        loss = self.loss_of(ids)
        self.losses.append(self.all_gather(loss.detach()).float().mean().item())
        return loss

    def configure_optimizers(self):
        optimizer = tiny_text.optimizer_of(self)
        return [optimizer], [{"scheduler": torch.optim.lr_scheduler.StepLR(optimizer, 3), "interval": "step"}]

    def train_dataloader(self):
        """An epoch is half of the training."""
        rows = tiny_text.rows(STEPS * BATCH // 2)
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
    what = f"{ranks} NPU, {precision}"
    good, line = tiny_text.judged(what, losses, expected, CLOSE[precision], again, "Lightning's on the CPU")
    if os.environ.get("LOCAL_RANK", "0") == "0":
        print(line, flush=True)
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
