# SPDX-License-Identifier: Apache-2.0
"""Run by test_first_generation.py on an SoC that saturates: models train in float16 with each of the two GradScalers;
gradients of one step in six overflow. Prints what happened as JSON, and leaves how far the weights moved in the folder
that it is given, a file for each training; "cpu" as second argument trains the same on the CPU, in float32 ("exact")
and in float16 ("cpu")."""

import json
import sys
from pathlib import Path

import models
import numpy as np
import torch
import torch.nn.functional as F

LARGE = 3
FOLDER = Path(sys.argv[1])


def train(name, device, scaler, kind):
    model, batches = models.make(name)
    start = {n: p.detach().double().clone() for n, p in model.named_parameters()}
    model = model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    told = []
    for step, (x, y) in enumerate((batches * 6)[:6]):
        if step == LARGE and scaler is None:
            continue  # the step that is left out
        before = [p.detach().clone() for p in model.parameters()]
        optimizer.zero_grad()
        with torch.autocast(device, dtype=torch.float16, enabled=scaler is not None):
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
        larger = loss * 1e30 if step == LARGE else loss  # its gradients pass the range of float16
        (scaler.scale(larger) if scaler else larger).backward()
        if scaler:
            scaler.step(optimizer)
            scaler.update()
        else:
            optimizer.step()
        moved = any(not torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))
        told.append([loss.item(), scaler.get_scale() if scaler else 1.0, moved])
    moved = {n: (p.detach().cpu().double() - start[n]).numpy() for n, p in model.named_parameters()}
    np.savez(FOLDER / f"{kind} {name}.npz", **moved)
    finite = all(bool(torch.isfinite(p).all()) for p in model.parameters())
    return {"steps": told, "finite": finite}


def main():
    names = ["mlp", "resnet18"]
    if sys.argv[2:] == ["cpu"]:
        for name in names:
            train(name, "cpu", torch.amp.GradScaler("cpu", init_scale=1024.0), "cpu")
        return {name: train(name, "cpu", None, "exact") for name in names}
    import torch_npu

    torch.npu.config.allow_internal_format = False  # else convolutions take the vendor's private formats on this SoC
    told = {"device": torch_npu.npu.get_device_name(), "inf_nan": torch_npu.npu.utils.is_support_inf_nan()}
    half = torch.full([2], 6e4, dtype=torch.float16, device="npu") * 2
    told["half"] = half.cpu().tolist()
    told["flag"] = [torch_npu.npu.utils.get_npu_overflow_flag()]
    torch_npu.npu.utils.clear_npu_overflow_flag()
    told["flag"].append(torch_npu.npu.utils.get_npu_overflow_flag())
    for kind, scaler in (("torch", torch.amp.GradScaler), ("vendor", torch_npu.npu.amp.GradScaler)):
        for name in names:
            named = {"device": "npu"} if kind == "torch" else {}
            told[f"{kind} {name}"] = train(name, "npu", scaler(init_scale=1024.0, growth_interval=2, **named), kind)
    return told


print(json.dumps(main()))
