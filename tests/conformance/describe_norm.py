# SPDX-License-Identifier: Apache-2.0
"""Cases of normalisation and its gradients (see case.py for the form)."""

import torch
from case import T, case

F32 = torch.float32


def channels_last(*shape, low=-2.0, high=2.0):
    """A tensor with the channels innermost in memory."""

    def make(generator):
        unit = torch.rand(shape, generator=generator, dtype=torch.float64) * (high - low) + low
        return unit.movedim(1, -1).contiguous().movedim(-1, 1)

    return T(*shape, values=make)


def keep_layout(self):
    return None if self is None else self.clone()


def batch_norm(self, weight, bias, running_mean, running_var, training, momentum, eps):
    mean, var = keep_layout(running_mean), keep_layout(running_var)
    out, save_mean, save_invstd = torch.native_batch_norm(self, weight, bias, mean, var, training, momentum, eps)
    return mean, var, out, (save_mean if training else None), (save_invstd if training else None)


def batch_norm_gradient(grad_output, self, weight, running_mean, running_var, save_mean, save_invstd, training, eps,
                        output_mask):  # fmt: skip
    return torch.ops.aten.native_batch_norm_backward(
        grad_output, self, weight, running_mean, running_var, save_mean, save_invstd, training, eps, output_mask
    )


SHAPES = [(6, 5), (300, 70), (4, 3, 9), (2, 5, 6, 7), (3, 70, 5, 5), (2, 3, 2, 3, 4), (2, 2, 90, 110), (1, 4, 3)]
for index, shape in enumerate(SHAPES):
    c = shape[1]
    mixed = F32 if index % 2 else None  # float32 parameters beside a narrow input
    for training in (True, False):
        for x in [T(*shape, low=-1, high=3), channels_last(*shape, low=-1, high=3)]:
            affine = index % 3 != 2
            statistics = {"running_mean": T(c, dtype=mixed), "running_var": T(c, low=0.5, high=2, dtype=mixed)}
            case("aclnnBatchNorm", batch_norm, self=x, weight=T(c, dtype=mixed) if affine else None,
                 bias=T(c, dtype=mixed) if affine else None, training=training, momentum=0.1, eps=1e-5, tolerance=10,
                 out_dtypes={"save_mean": F32, "save_invstd": F32}, dtypes=[F32, torch.float16, torch.bfloat16],
                 **statistics)  # fmt: skip
            case("aclnnBatchNormBackward", batch_norm_gradient, self=x, grad_output=T(*shape),
                 weight=T(c, dtype=mixed) if affine else None, save_mean=T(c, low=0, high=1, dtype=F32),
                 save_invstd=T(c, low=0.5, high=1.5, dtype=F32), training=training, eps=1e-5,
                 output_mask=[True, affine, affine], out_dtypes={"grad_weight": F32, "grad_bias": F32},
                 dtypes=[F32, torch.float16, torch.bfloat16], tolerance=100, **statistics)  # fmt: skip
case("aclnnBatchNorm", batch_norm, self=T(40, 3, 8, 8, low=99, high=101), weight=None, bias=None, running_mean=None,
     running_var=None, training=True, momentum=0.1, eps=1e-5, dtypes=[F32], tolerance=100)  # fmt: skip
case("aclnnBatchNorm", batch_norm, self=T(40, 3, 8, 8), weight=T(3), bias=T(3), running_mean=T(3),
     running_var=T(3, low=0.5, high=2), training=True, momentum=0.3, eps=1e-3, dtypes=[torch.float64])  # fmt: skip
