# SPDX-License-Identifier: Apache-2.0
"""Cases of sampling at the points of a grid (see case.py for the form)."""

import torch
from case import T, case

aten = torch.ops.aten
LAYOUTS = ("plain", "transposed", "sliced", "expanded", "channels_last")
IMAGES = {2: ((2, 3, 5, 6), (2, 4, 7, 2)), 3: ((2, 3, 4, 5, 6), (2, 3, 2, 4, 3))}


def sampled(axes, mode, padding, corners):
    forward = aten.grid_sampler_2d if axes == 2 else aten.grid_sampler_3d
    image, grid = IMAGES[axes]
    options = {"interpolation_mode": mode, "padding_mode": padding, "align_corners": corners}

    def sample(input, grid):
        return forward(input, grid, mode, padding, corners)

    def gradients(grad_output, input, grid):
        x, y = input.detach().requires_grad_(), grid.detach().requires_grad_()
        return torch.autograd.grad(sample(x, y), (x, y), grad_output)

    points = T(*grid, low=-1.3, high=1.3)
    name = f"aclnnGridSampler{axes}D"
    case(name, sample, input=T(*image), grid=points, layouts=LAYOUTS, **options)
    case(f"{name}Backward", gradients, grad_output=T(*image[:2], *grid[1:-1]), input=T(*image), grid=points,
         output_mask=[True, True], layouts=LAYOUTS, **options)  # fmt: skip


for axes, modes in ((2, (0, 1, 2)), (3, (0, 1))):
    for mode in modes:
        for padding in (0, 1, 2):
            for corners in (False, True):
                sampled(axes, mode, padding, corners)
