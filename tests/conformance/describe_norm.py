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


def batch_norm_terms(self, weight, bias, running_mean, running_var, training, eps):
    """Of what cancels, which is the result alone: far from zero the mean takes away most digits."""
    rest = [d for d in range(self.dim()) if d != 1]
    mean, var = (self.mean(rest), self.var(rest, unbiased=False)) if training else (running_mean, running_var)
    slope = (var + eps).rsqrt() * (1 if weight is None else weight.abs())
    out = (self.abs() + along(self, mean.abs())) * along(self, slope)
    return None, None, out + (0 if bias is None else along(self, bias.abs())), None, None


def along(x, values):
    """One number a channel, shaped to broadcast over x."""
    return values.reshape(1, -1, *[1] * (x.dim() - 2))


def batch_norm_gradient_terms(grad_output, self, weight, running_mean, running_var, save_mean, save_invstd, training,
                              eps):  # fmt: skip
    mean, invstd = (save_mean, save_invstd) if training else (running_mean, (running_var + eps).rsqrt())
    rest = [d for d in range(self.dim()) if d != 1]
    grad, unit = grad_output.abs(), (self.abs() + along(self, mean.abs())) * along(self, invstd)
    means = grad.mean(rest, True) + unit * (grad * unit).mean(rest, True) if training else 0
    slope = along(self, invstd * (1 if weight is None else weight.abs()))
    return slope * (grad + means), (grad * unit).sum(rest), grad.sum(rest)


SHAPES = [(6, 5), (300, 70), (4, 3, 9), (2, 5, 6, 7), (3, 70, 5, 5), (2, 3, 2, 3, 4), (2, 2, 90, 110), (1, 4, 3)]
for index, shape in enumerate(SHAPES):
    c = shape[1]
    mixed = F32 if index % 2 else None  # float32 parameters beside a narrow input
    for training in (True, False):
        for x in [T(*shape, low=-1, high=3), channels_last(*shape, low=-1, high=3)]:
            affine = index % 3 != 2
            statistics = {"running_mean": T(c, dtype=mixed), "running_var": T(c, low=0.5, high=2, dtype=mixed)}
            case("aclnnBatchNorm", batch_norm, self=x, weight=T(c, dtype=mixed) if affine else None,
                 bias=T(c, dtype=mixed) if affine else None, training=training, momentum=0.1, eps=1e-5,
                 out_dtypes={"save_mean": F32, "save_invstd": F32}, dtypes=[F32, torch.float16, torch.bfloat16],
                 **statistics)  # fmt: skip
            case("aclnnBatchNormBackward", batch_norm_gradient, self=x, grad_output=T(*shape),
                 weight=T(c, dtype=mixed) if affine else None, save_mean=T(c, low=0, high=1, dtype=F32),
                 save_invstd=T(c, low=0.5, high=1.5, dtype=F32), training=training, eps=1e-5,
                 output_mask=[True, affine, affine], out_dtypes={"grad_weight": F32, "grad_bias": F32},
                 dtypes=[F32, torch.float16, torch.bfloat16], terms=batch_norm_gradient_terms,
                 **statistics)  # fmt: skip
case("aclnnBatchNorm", batch_norm, self=T(40, 3, 8, 8, low=99, high=101), weight=None, bias=None, running_mean=None,
     running_var=None, training=True, momentum=0.1, eps=1e-5, dtypes=[F32], terms=batch_norm_terms)  # fmt: skip
case("aclnnBatchNorm", batch_norm, self=T(40, 3, 8, 8), weight=T(3), bias=T(3), running_mean=T(3),
     running_var=T(3, low=0.5, high=2), training=True, momentum=0.3, eps=1e-3, dtypes=[torch.float64])  # fmt: skip


def layer_norm(self, normalized_shape, weight, bias, eps):
    return torch.native_layer_norm(self, normalized_shape, weight, bias, eps)


def layer_norm_gradient(grad_output, self, normalized_shape, mean, rstd, weight, bias, output_mask):
    return torch.ops.aten.native_layer_norm_backward(
        grad_output.contiguous(), self.contiguous(), normalized_shape, mean, rstd, weight, bias, output_mask
    )


def gradient_terms(grad_output, self, dims, mean, rstd, weight):
    """Of the gradients of a norm over the last `dims` axes: of its input, weight and bias."""
    axes, rows = list(range(-dims, 0)), list(range(self.dim() - dims))
    grad, unit = grad_output.abs(), (self.abs() + mean.abs()) * rstd
    weighted = grad if weight is None else grad * weight.abs()
    means = weighted.mean(axes, True) + unit * (weighted * unit).mean(axes, True)
    return rstd * (weighted + means), (grad * unit).sum(rows), grad.sum(rows)


def layer_norm_terms(grad_output, self, normalized_shape, mean, rstd, weight):
    return gradient_terms(grad_output, self, len(normalized_shape), mean, rstd, weight)


def add_layer_norm_terms(grad_output, x1, x2, rstd, mean, gamma, grad_sum):
    first, *rest = gradient_terms(grad_output, x1.abs() + x2.abs(), gamma.dim(), mean, rstd, gamma)
    return first + grad_sum.abs(), *rest


def rms_terms(grad_output, self, rstd, gamma):
    return gradient_terms(grad_output, self, gamma.dim(), torch.zeros_like(rstd), rstd, gamma)[:2]


def sums(self, residual, bias=None):
    return self + residual if bias is None else self + residual + bias


def add_layer_norm(x1, x2, gamma, beta, bias, eps, additional_output):
    total = sums(x1, x2, bias)
    out, mean, rstd = torch.native_layer_norm(total, list(gamma.shape), gamma, beta, eps)
    return out, mean, rstd, total if additional_output else None


def add_layer_norm_gradient(grad_output, x1, x2, rstd, mean, gamma, grad_sum):
    grads = layer_norm_gradient(grad_output, x1 + x2, list(gamma.shape), mean, rstd, gamma, gamma, [True] * 3)
    return grads[0] + grad_sum, grads[1], grads[2]


def rms(total, gamma, eps):
    axes = list(range(-gamma.dim(), 0))
    rstd = torch.rsqrt(total.square().mean(axes, keepdim=True) + eps)
    return total * rstd * gamma, rstd


def rms_gradient(grad_output, self, rstd, gamma):
    # The formula itself: rstd is an argument, so it does not have to be that of self.
    axes = list(range(-gamma.dim(), 0))
    unit, weighted = self * rstd, grad_output * gamma
    grad = rstd * (weighted - unit * (weighted * unit).mean(axes, keepdim=True))
    return grad, (grad_output * unit).sum(list(range(self.dim() - gamma.dim())))


ROW_SHAPES = [((6, 5), 1), ((3, 4, 70), 1), ((2, 300, 33), 2), ((40, 3, 7, 11), 2), ((700, 130), 1), ((5,), 1)]
for index, (shape, axes) in enumerate(ROW_SHAPES):
    rows, row = shape[:-axes], shape[-axes:]
    ones = (1,) * axes
    wide = dict.fromkeys(["mean", "rstd", "grad_weight", "grad_bias", "grad_gamma", "grad_beta"], F32)
    kinds = [F32, torch.float16, torch.bfloat16]
    x, g = T(*shape, low=-1, high=3), T(*shape)
    affine = index % 3 != 2
    weight = T(*row, low=0.5, high=1.5) if affine else None
    bias = T(*row) if affine else None
    moments = {"mean": T(*rows, *ones, low=0, high=1, dtype=F32), "rstd": T(*rows, *ones, low=0.5, high=2, dtype=F32)}
    for name in ("aclnnLayerNorm", "aclnnFastLayerNorm"):
        case(name, layer_norm, self=x, normalized_shape=list(row), weight=weight, bias=bias, eps=1e-5,
             out_dtypes=wide, dtypes=kinds)  # fmt: skip
    case("aclnnLayerNormBackward", layer_norm_gradient, grad_output=g, self=x, normalized_shape=list(row),
         weight=weight, bias=bias, output_mask=[True, affine, affine], out_dtypes=wide, dtypes=kinds,
         terms=layer_norm_terms, **moments)  # fmt: skip
    gamma = T(*row, low=0.5, high=1.5)
    case("aclnnRmsNorm", lambda self, gamma, eps: rms(self, gamma, eps), self=x, gamma=gamma, eps=1e-6,
         out_dtypes=wide, dtypes=kinds)  # fmt: skip
    case("aclnnGemmaRmsNorm", lambda self, gamma, eps: rms(self, gamma + 1, eps), self=x, gamma=gamma, eps=1e-6,
         out_dtypes=wide, dtypes=kinds)  # fmt: skip
    case("aclnnAddRmsNorm", lambda self, residual, gamma, eps: (*rms(self + residual, gamma, eps), self + residual),
         self=x, residual=g, gamma=gamma, eps=1e-6, out_dtypes=wide, dtypes=kinds)  # fmt: skip
    case("aclnnInplaceAddRmsNorm",
         lambda self, residual, gamma, eps: (
             (y := rms(self + residual, gamma, eps))[0], self + residual, y[1]),
         self=x, residual=g, gamma=gamma, eps=1e-6, out_dtypes=wide, dtypes=kinds)  # fmt: skip
    case("aclnnAddRmsNormCast",
         lambda self, residual, gamma, eps: (
             (y := rms(self + residual, gamma, eps))[0], y[0], y[1], self + residual),
         self=x, residual=g, gamma=gamma, eps=1e-6, out_dtypes=wide | {"out": F32}, dtypes=[torch.float16])  # fmt: skip
    if len(rows) == 0:
        continue
    case("aclnnRmsNormGrad", rms_gradient, grad_output=g, self=x, gamma=gamma, rstd=moments["rstd"],
         out_dtypes=wide, dtypes=kinds, terms=rms_terms)  # fmt: skip
    case("aclnnAddLayerNorm", add_layer_norm, x1=x, x2=g, gamma=gamma, beta=T(*row), bias=T(*row) if affine else None,
         eps=1e-5, additional_output=index % 2 == 0, out_dtypes=wide, dtypes=kinds)  # fmt: skip
    case("aclnnAddLayerNormGrad", add_layer_norm_gradient, grad_output=g, x1=x, x2=T(*shape), gamma=gamma,
         grad_sum=T(*shape), out_dtypes=wide, dtypes=kinds, terms=add_layer_norm_terms, **moments)  # fmt: skip
case("aclnnLayerNorm", layer_norm, self=T(9, 20), normalized_shape=[20], weight=None, bias=None, eps=1e-5,
     dtypes=[torch.float64])  # fmt: skip
