# SPDX-License-Identifier: Apache-2.0
"""A step of a small network of torch: `classify.py MODEL`, of the models that the end-to-end tests train."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "end_to_end"))
import models
import torch
import torch.nn.functional as F

torch.manual_seed(0)
model, batches = models.make(sys.argv[1])
model = model.npu()
optimizer = torch.optim.Adam(model.parameters())
for x, y in batches[:2]:
    loss = F.cross_entropy(model(x.npu()), y.npu())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
