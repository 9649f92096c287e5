# SPDX-License-Identifier: Apache-2.0
"""What deformable convolution reads, by torch's own sampling of grids."""

import torch
import torch.nn.functional as F


def laid_out(input, offset, kernel_size, stride, padding, dilation, deformable_groups):
    """What each element of the kernel reads at each place: [n, channels, rows * kernel, columns * kernel]."""
    n, channels, height, width = input.shape
    rows, columns = offset.shape[2:]
    kh, kw = kernel_size
    parts = offset.view(n, 3, deformable_groups, kh, kw, rows, columns)
    made = torch.zeros(n, channels, rows, kh, columns, kw, dtype=torch.float64)
    size = channels // deformable_groups
    for g in range(deformable_groups):
        images = input[:, g * size : (g + 1) * size]
        for i in range(kh):
            for j in range(kw):
                by_x, by_y, mask = parts[:, :, g, i, j].unbind(1)
                y = (torch.arange(rows) * stride[2] - padding[0] + i * dilation[2])[:, None] + by_y
                x = (torch.arange(columns) * stride[3] - padding[2] + j * dilation[3])[None] + by_x
                # Pixel p of a size s is at (2 p + 1) / s - 1.
                grid = torch.stack([(2 * x + 1) / width - 1, (2 * y + 1) / height - 1], -1)
                read = F.grid_sample(images, grid, align_corners=False)
                made[:, g * size : (g + 1) * size, :, i, :, j] = read * mask[:, None]
    return made.reshape(n, channels, rows * kh, columns * kw)
