# SPDX-License-Identifier: Apache-2.0
"""What an operator type is called with and what torch makes of it: the descriptions that test_operator_types runs."""

import dataclasses

import torch
from operator_type import Host

CASES = {}
GENERATOR = torch.Generator().manual_seed(7)


@dataclasses.dataclass
class Case:
    inputs: list
    oracle: object
    attributes: dict
    continued: dict
    wait: bool
    summed: bool  # long sums that cancel: the oracle of the inputs without their signs gives the terms


def case(names, inputs, oracle, continued=(), wait=False, summed=False, **attributes):
    for name in names.split():
        CASES.setdefault(name, []).append(Case(list(inputs), oracle, attributes, dict(continued), wait, summed))


def rand(*shape, low=-2.0, high=2.0):
    return torch.rand(*shape, generator=GENERATOR) * (high - low) + low


def ints(high, *shape):
    return torch.randint(high, shape, generator=GENERATOR)


def flags(*shape):
    return ints(2, *shape).bool()


def numbers(*values):
    return [Host([v], torch.float32) for v in values]


def gradient(function):
    """(incoming gradient, input) -> the gradient of the input."""

    def oracle(grad, x, *_):
        x.requires_grad_()
        return torch.autograd.grad(function(x), x, grad)[0]

    return oracle
