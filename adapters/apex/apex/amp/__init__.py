# SPDX-License-Identifier: Apache-2.0
"""Mixed precision: initialize, scale_loss, and what they leave to a script."""

from .cast import disable_casts
from .checkpoint import load_state_dict, state_dict
from .handle import init
from .initialize import initialize
from .loss import scale_loss
from .patch import (
    float_function,
    half_function,
    promote_function,
    register_float_function,
    register_half_function,
    register_promote_function,
)

__all__ = [
    "disable_casts",
    "float_function",
    "half_function",
    "init",
    "initialize",
    "load_state_dict",
    "master_params",
    "promote_function",
    "register_float_function",
    "register_half_function",
    "register_promote_function",
    "scale_loss",
    "state_dict",
]


def master_params(optimizer):
    """The weights that the optimizer changes: the float32 masters, where there are some."""
    for group in optimizer.param_groups:
        yield from group["params"]
