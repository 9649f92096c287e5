# SPDX-License-Identifier: Apache-2.0
"""The scalers' state in a checkpoint, in the form of stock Apex."""

import warnings
from collections import OrderedDict

from .state import STATE


def state_dict(destination=None):
    found = OrderedDict() if destination is None else destination
    for index, scaler in enumerate(STATE.scalers):
        found[f"loss_scaler{index}"] = scaler.state_dict()
    return found


def load_state_dict(state):
    foreign = [key for key in state if "loss_scaler" not in key]
    if foreign:
        raise RuntimeError(
            f"amp.load_state_dict: not an amp checkpoint, it has the keys {', '.join(map(str, foreign))}"
        )
    if len(state) != len(STATE.scalers):
        text = (
            f"amp.load_state_dict: the checkpoint has {len(state)} loss scalers, initialize made {len(STATE.scalers)}"
        )
        warnings.warn(text + "; those of both are loaded", stacklevel=2)
    for scaler, saved in zip(STATE.scalers, state.values(), strict=False):
        scaler.load_state_dict(saved)
