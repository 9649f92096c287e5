# SPDX-License-Identifier: Apache-2.0
"""torch.distributed.checkpoint and safetensors on NPUs: what FSDP2 writes on 4 ranks, 2 ranks read and train on.

    make clients   # all of them; it puts safetensors into build/clients
    PYTHONPATH=build/clients python tests/clients/checkpoint.py

Four ranks train a model sharded by FSDP2 (its parameters are DTensors) and save it three times, with save, with
async_save, and gathered as one safetensors file. Two ranks load each into other weights and train on. Weights must
arrive with the same bits, and the losses be those of one process on the CPU.
"""

import os
import subprocess
import sys
import tempfile

STEPS, BATCH = 6, 8
# A rounding of float32 per step, against float64 on the CPU: there float32 itself is 6e-5 away with Adam's usual eps,
# which makes whole steps of gradients that are roundings. Hence the larger eps below.
CLOSE = 5e-6


def launch():
    quiet = os.environ | {"OMP_NUM_THREADS": "1", "ANYNPU_THREADS": "1", "OMP_WAIT_POLICY": "passive"}
    with tempfile.TemporaryDirectory() as folder:
        for ranks, part in ((4, "write"), (2, "read")):
            command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
            if subprocess.call([*command, __file__, part, folder], env=quiet):
                sys.exit(f"checkpoint: {ranks} ranks that {part} failed")


if __name__ == "__main__" and "RANK" not in os.environ:
    launch()
    sys.exit(0)

import safetensors  # noqa: E402 - the launcher above needs none of these
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
import torch.distributed.checkpoint as dcp  # noqa: E402
import torch_npu  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402
from torch import nn  # noqa: E402
from torch.distributed.checkpoint.state_dict import (  # noqa: E402
    StateDictOptions,
    get_model_state_dict,
    get_state_dict,
    set_model_state_dict,
    set_state_dict,
)
from torch.distributed.device_mesh import init_device_mesh  # noqa: E402
from torch.distributed.fsdp import fully_shard  # noqa: E402


def network(seed):
    torch.manual_seed(seed)
    layers = [nn.Sequential(nn.Linear(n, m), nn.LayerNorm(m), nn.GELU()) for n, m in ((10, 33), (33, 18))]
    return nn.Sequential(*layers, nn.Linear(18, 5))  # sizes that 2 and 4 ranks do not divide evenly


def optimizer_of(model):
    return torch.optim.AdamW(model.parameters(), lr=1e-2, eps=1e-5)


def sharded(seed):
    mesh = init_device_mesh("npu", (dist.get_world_size(),))
    model = network(seed).npu()
    for layer in model:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    return model, optimizer_of(model)


def train(model, optimizer, steps):
    """Losses of the whole batch, of which each rank computes its share."""
    weight = next(model.parameters())
    g, losses = torch.Generator().manual_seed(1), []
    batches = torch.randn(STEPS, BATCH, 10, generator=g)
    ranks, rank = (dist.get_world_size(), dist.get_rank()) if weight.is_npu else (1, 0)
    for batch in batches[steps]:
        x = batch.chunk(ranks)[rank].to(weight.device, weight.dtype)
        loss = nn.functional.mse_loss(model(x), x[:, :5].sin())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        whole = loss.detach()
        if ranks > 1:
            dist.all_reduce(whole)
        losses.append(whole.item() / ranks)
    return losses


def state(model, optimizer):
    parts = get_state_dict(model, optimizer)
    return dict(zip(("model", "optimizer"), parts, strict=True))


def weights(model):
    return get_model_state_dict(model, options=StateDictOptions(full_state_dict=True))


def write(folder):
    model, optimizer = sharded(0)
    losses = train(model, optimizer, slice(0, STEPS // 2))
    dcp.save(state(model, optimizer), checkpoint_id=f"{folder}/save")
    dcp.async_save(state(model, optimizer), checkpoint_id=f"{folder}/async").result()
    whole = weights(model)
    if dist.get_rank() == 0:
        save_file({name: t.contiguous() for name, t in whole.items()}, f"{folder}/whole.safetensors")
        torch.save(losses, f"{folder}/losses.pt")


def loaded(folder, name):
    model, optimizer = sharded(7)
    if name == "safetensors":
        whole = load_file(f"{folder}/whole.safetensors", device=f"npu:{dist.get_rank()}")
        assert all(t.is_npu for t in whole.values())
        set_model_state_dict(model, whole, options=StateDictOptions(full_state_dict=True))
        return model, optimizer
    read = state(model, optimizer)
    dcp.load(read, checkpoint_id=f"{folder}/{name}")
    set_state_dict(model, optimizer, model_state_dict=read["model"], optim_state_dict=read["optimizer"])
    return model, optimizer


def on_the_cpu():
    model = network(0).double()
    optimizer = optimizer_of(model)
    return train(model, optimizer, slice(0, STEPS))


def read(folder):
    expected, before = on_the_cpu(), torch.load(f"{folder}/losses.pt")
    written = load_file(f"{folder}/whole.safetensors")
    for name in ("save", "async", "safetensors"):
        model, optimizer = loaded(folder, name)
        equal = all(torch.equal(t.cpu(), written[n]) for n, t in weights(model).items())
        # A file of safetensors holds no optimizer: its training is another one, but for the first loss.
        steps = slice(STEPS // 2, STEPS // 2 + 1 if name == "safetensors" else STEPS)
        losses = before + train(model, optimizer, steps)
        off = max(abs(a - b) / abs(b) for a, b in zip(losses, expected[: len(losses)], strict=True))
        if dist.get_rank() == 0:
            print(f"{name}: 4 ranks to 2, weights {'the same bits' if equal else 'DIFFER'}, {len(losses)} losses "
                  f"{losses[0]:.6f} to {losses[-1]:.6f}, at most {off:.1e} from the CPU's", flush=True)  # fmt: skip
        assert equal and off < CLOSE, f"checkpoint: {name} DIFFERS: losses {losses}, on the CPU {expected}"


def main():
    part, folder = sys.argv[1:]
    torch.npu.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("cpu:gloo,npu:hccl")  # async_save asks for a group of the CPU
    if part == "write" and dist.get_rank() == 0:
        print("safetensors", safetensors.__version__, "torch", torch.__version__, "torch_npu", torch_npu.__version__)
    {"write": write, "read": read}[part](folder)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
