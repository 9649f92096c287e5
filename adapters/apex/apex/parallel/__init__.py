# SPDX-License-Identifier: Apache-2.0
"""Training on several NPUs, by torch.distributed."""

import torch

from apex.unbuilt import refuse

from .distributed import DistributedDataParallel, Reducer, convert_syncbn_model, create_syncbn_process_group
from .larc import LARC

SyncBatchNorm = torch.nn.SyncBatchNorm

__all__ = ["LARC", "DistributedDataParallel", "Reducer", "SyncBatchNorm"]
__all__ += ["convert_syncbn_model", "create_syncbn_process_group"]
__getattr__ = refuse(__name__, {"multiproc": "start the ranks with anynpu launch or torchrun"})
