# SPDX-License-Identifier: Apache-2.0
"""What `initialize` has set for the process: one record, which all of amp looks at."""

import torch


class State:
    def __init__(self):
        self.options = None  # of the last initialize; None before it
        self.scalers = []  # one for each loss
        self.casting = False  # whether the listed functions cast their arguments
        self.cached = {}  # id of a weight: (weight, its version, the cast), for one iteration
        self.verbosity = 1


STATE = State()


def is_first_rank():
    dist = torch.distributed
    return not (dist.is_available() and dist.is_initialized()) or dist.get_rank() == 0


def say(text):
    """A line of the first rank, unless verbosity is 0."""
    if STATE.verbosity > 0 and is_first_rank():
        print(text, flush=True)
