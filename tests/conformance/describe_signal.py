# SPDX-License-Identifier: Apache-2.0
"""Cases of the short-time Fourier transform and of affine grids."""

import torch
import torch.nn.functional as F
from case import REAL, T, case

DEEP = [torch.float32, torch.float64]
COMPLEX = [torch.complex64, torch.complex128]


def stft(self, window, n_fft, hop_length, win_length, normalized, onesided, return_complex):
    made = torch.stft(self, n_fft, hop_length, win_length, window, False, "constant", normalized, onesided, True)
    return made if return_complex else torch.view_as_real(made)


# 16 is a power of two, 30 has three prime factors, 7 and 37 are prime.
for n_fft, hop, win in [(16, 4, 16), (30, 7, 20), (7, 3, 7), (37, 10, 30), (1, 1, 1), (100, 25, 100)]:
    for shape in ((100,), (3, 120)):
        for window in (None, T(win, low=0, high=1)):
            options = {"n_fft": n_fft, "hop_length": hop, "win_length": win, "window": window}
            for complex_result in (True, False):
                case("aclStft", stft, DEEP, self=T(*shape), normalized=False, onesided=True,
                     return_complex=complex_result, **options)  # fmt: skip
            case("aclStft", stft, DEEP, self=T(*shape), normalized=True, onesided=False, return_complex=True, **options)
    case("aclStft", stft, COMPLEX, self=T(100), window=None, n_fft=n_fft, hop_length=hop, win_length=win,
         normalized=True, onesided=False, return_complex=True)  # fmt: skip


def grid(theta, size, align_corners):
    if size[0] == 0:
        return theta.new_empty(0, *size[2:], len(size) - 2)
    return F.affine_grid(theta, size, align_corners=align_corners)


for size in ([2, 1, 4, 5], [3, 2, 1, 7], [2, 1, 3, 4, 5], [1, 1, 1, 1, 1], [0, 1, 2, 3]):
    axes = len(size) - 2
    for align in (True, False):
        case("aclnnAffineGrid", grid, REAL, theta=T(size[0], axes, axes + 1), size=size, align_corners=align)
