# SPDX-License-Identifier: Apache-2.0
"""Models in half, with batch norms in float32."""

import torch

from ..amp.network import cast_tensors, convert

_BATCH_NORM = torch.nn.modules.batchnorm._BatchNorm


class tofp16(torch.nn.Module):  # noqa: N801
    """A layer that casts its input to half."""

    def forward(self, input):
        return input.half()


def BN_convert_float(module):  # noqa: N802
    """Affine batch norms below `module` back in float32."""
    for part in module.modules():
        if isinstance(part, _BATCH_NORM) and part.affine:
            part.float()
    return module


def convert_module(module, dtype):
    """A module's own weights and buffers, not those of modules below it."""
    for tensor in [*module.parameters(recurse=False), *module.buffers(recurse=False)]:
        if tensor.is_floating_point():
            tensor.data = tensor.data.to(dtype)


def convert_network(network, dtype):
    convert(network, dtype, keep_batchnorm_fp32=True)
    return network


def network_to_half(network):
    return torch.nn.Sequential(tofp16(), BN_convert_float(network.half()))


class FP16Model(torch.nn.Module):
    """A model in half that takes inputs of any floating type."""

    def __init__(self, network):
        super().__init__()
        self.network = convert_network(network, torch.half)

    def forward(self, *inputs):
        return self.network(*cast_tensors(inputs, torch.half))
