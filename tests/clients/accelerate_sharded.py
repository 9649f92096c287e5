# SPDX-License-Identifier: Apache-2.0
"""accelerate on NPUs as its users start it (`accelerate launch`): FSDP2 on 2 and 4 ranks, DeepSpeed and DDP on 2.

    make clients   # all of them; it puts accelerate and DeepSpeed into build/clients
    PYTHONPATH=build/clients python tests/clients/accelerate_sharded.py

Each run trains a tiny transformer on batches that the ranks share, against plain torch in one process on the CPU; the
mean of the ranks' losses is that of the whole batch. Half way save_state writes all there is; other weights and another
optimizer then load_state it and go on to the same bits.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

STEPS, BATCH = 8, 8
FSDP2 = """distributed_type: FSDP
fsdp_config:
  fsdp_version: 2
  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP
  fsdp_transformer_layer_cls_to_wrap: TransformerEncoderLayer
  fsdp_reshard_after_forward: true
  fsdp_state_dict_type: {state}
"""
DEEPSPEED = """distributed_type: DEEPSPEED
deepspeed_config:
  zero_stage: {stage}
  gradient_accumulation_steps: 1
  gradient_clipping: 1.0
"""
# name: configuration, ranks, precision, how far losses may be from float32 on the CPU: a rounding of float32 per step,
# or of the weights and activations that bfloat16 and float16 keep.
RUNS = {
    "fsdp2, full state": (FSDP2.format(state="FULL_STATE_DICT"), 2, "no", 2e-5),
    "fsdp2 of 4": (FSDP2.format(state="SHARDED_STATE_DICT"), 4, "no", 2e-5),
    "fsdp2, bf16": (FSDP2.format(state="SHARDED_STATE_DICT"), 2, "bf16", 2e-2),
    "deepspeed 2": (DEEPSPEED.format(stage=2), 2, "no", 2e-5),
    "deepspeed 3, bf16": (DEEPSPEED.format(stage=3), 2, "bf16", 2e-2),
    "ddp, fp16": ("distributed_type: MULTI_NPU\n", 2, "fp16", 2e-2),
}


def run(name, folder):
    config, ranks, precision, close = RUNS[name]
    path = Path(folder) / "config.yaml"
    path.write_text(f"compute_environment: LOCAL_MACHINE\n{config}mixed_precision: '{precision}'\nnum_machines: 1\n"
                    f"num_processes: {ranks}\nmachine_rank: 0\nuse_cpu: false\n")  # fmt: skip
    quiet = {"OMP_NUM_THREADS": "1", "ANYNPU_THREADS": "1", "OMP_WAIT_POLICY": "passive"}
    command = [sys.executable, "-m", "accelerate.commands.launch", "--config_file", path, __file__, name, str(close)]
    return subprocess.call([*command, folder], env=os.environ | quiet)


def launch():
    failed = []
    for name in sys.argv[1:] or RUNS:
        with tempfile.TemporaryDirectory() as folder:
            failed += [name] * (run(name, folder) != 0)
    sys.exit(f"accelerate: these failed: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__" and "RANK" not in os.environ:
    launch()

import accelerate  # noqa: E402 - the launcher above needs none of these
import torch  # noqa: E402
import torch_npu  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import tiny_text  # noqa: E402


def prepared(accelerator, seed):
    model = tiny_text.Tiny(seed)
    loader = DataLoader(tiny_text.rows(STEPS * BATCH), batch_size=BATCH // accelerator.num_processes)
    return accelerator.prepare(model, tiny_text.optimizer_of(model), loader)


def train(accelerator, made, steps):
    model, optimizer, loader = made
    losses = []
    for number, ids in enumerate(loader):
        if number not in steps:
            continue
        loss = model(ids)
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(accelerator.reduce(loss.detach().float(), "mean").item())
    return losses


def resumed(accelerator, folder):
    """The losses of the second half, from what save_state wrote."""
    accelerator.free_memory()
    made = prepared(accelerator, 7)
    accelerator.load_state(folder)
    return train(accelerator, made, range(STEPS // 2, STEPS))


def main():
    name, close, folder = sys.argv[1:]
    accelerator = accelerate.Accelerator()
    assert accelerator.device.type == "npu" and torch.distributed.get_backend() == "hccl"
    made = prepared(accelerator, 0)
    losses = train(accelerator, made, range(STEPS // 2))
    accelerator.save_state(folder)
    losses += train(accelerator, made, range(STEPS // 2, STEPS))
    again = resumed(accelerator, folder)
    expected = tiny_text.on_the_cpu(tiny_text.rows(STEPS * BATCH).split(BATCH))
    versions = f"{accelerate.__version__}, torch {torch.__version__}, torch_npu {torch_npu.__version__}"
    good, line = tiny_text.judged(f"accelerate {versions}: {name}", losses, expected, float(close), again)
    accelerator.print(line)
    torch.distributed.destroy_process_group()
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
