# SPDX-License-Identifier: Apache-2.0
"""DeepSpeed's ZeRO stages 0 to 3 on two NPUs, against plain torch in one process on the CPU.

    make clients   # all of them; it puts DeepSpeed into build/clients
    PYTHONPATH=build/clients python tests/clients/deepspeed_zero.py

Each stage trains a tiny transformer in float32, bfloat16 and float16 with DeepSpeed's own AdamW (on an NPU
torch_npu.npu_apply_adam_w). The ranks share the batch, so the mean of their losses is that of the whole batch.
Stage 0 in half precision takes a step with zero gradients when it is made (runtime/fp16/fused_optimizer.py:130), so
that Adam's bias correction is a step ahead, on any device: the CPU here does the same. In float16 it divides gradients
by a scale that the loss was not multiplied by (runtime/engine.py:3417), so it clips none: 1e-2 of its losses is that.
Half way a checkpoint is written; an engine with other weights loads it and goes on to the same bits.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

STEPS, RANKS = 8, 2
# float32 differs by the order of sums, which grows step by step; the others round weights and activations.
CLOSE = {"fp32": 2e-5, "bf16": 2e-2, "fp16": 2e-2}


def launch():
    command = [sys.executable, "-m", "deepspeed.launcher.runner", f"--num_gpus={RANKS}", __file__]
    quiet = {"OMP_NUM_THREADS": "1", "ANYNPU_THREADS": "1", "OMP_WAIT_POLICY": "passive", "DS_ACCELERATOR": "npu"}
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(subprocess.call([*command, folder], env=os.environ | quiet))


if __name__ == "__main__" and "RANK" not in os.environ:
    launch()

import deepspeed  # noqa: E402 - the launcher above needs none of these
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
import torch_npu  # noqa: E402
from deepspeed.accelerator import get_accelerator  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import tiny_text  # noqa: E402


def batches():
    return tiny_text.rows(STEPS * 4 * RANKS).split(4 * RANKS)


def engine(stage, dtype, seed=0):
    config = {
        "train_micro_batch_size_per_gpu": 4,
        "gradient_clipping": 1.0,
        "zero_optimization": {"stage": stage, "stage3_param_persistence_threshold": 0},
        "optimizer": {"type": "AdamW", "params": {"lr": 1e-2, "weight_decay": 0.01}},
        "fp16": {"enabled": dtype == "fp16", "initial_scale_power": 8},
        "bf16": {"enabled": dtype == "bf16"},
        "steps_per_print": 10**6,
    }
    return deepspeed.initialize(model=tiny_text.Tiny(seed), config=config)[0]


def train(made, steps):
    losses = []
    for ids in batches()[steps]:
        loss = made(ids.chunk(RANKS)[dist.get_rank()].npu())
        made.backward(loss)
        made.step()
        whole = loss.detach().float()
        dist.all_reduce(whole)
        losses.append(whole.item() / RANKS)
    return losses


def check(stage, dtype, expected, folder):
    whole = engine(stage, dtype)
    losses = train(whole, slice(0, STEPS // 2))
    whole.save_checkpoint(folder, tag=f"{stage}-{dtype}")
    losses += train(whole, slice(STEPS // 2, STEPS))
    whole.destroy()
    resumed = engine(stage, dtype, seed=7)
    resumed.load_checkpoint(folder, tag=f"{stage}-{dtype}")
    again = train(resumed, slice(STEPS // 2, STEPS))
    resumed.destroy()
    good, line = tiny_text.judged(f"ZeRO {stage} {dtype}", losses, expected, CLOSE[dtype], again)
    if dist.get_rank() == 0:
        print(line, flush=True)
    return good


def main():
    deepspeed.init_distributed()
    assert get_accelerator().device_name() == "npu" and dist.get_backend() == "hccl"
    if dist.get_rank() == 0:
        print("deepspeed", deepspeed.__version__, "torch", torch.__version__, "torch_npu", torch_npu.__version__)
    expected = {ahead: tiny_text.on_the_cpu(batches(), ahead) for ahead in (False, True)}
    results = [
        check(stage, dtype, expected[stage == 0 and dtype != "fp32"], sys.argv[-1])
        for stage in range(4)
        for dtype in CLOSE
    ]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
