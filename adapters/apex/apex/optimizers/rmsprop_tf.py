# SPDX-License-Identifier: Apache-2.0
"""RMSprop in TensorFlow's order: epsilon below the root, and the rate within the momentum."""

from .fused import NpuFused, PerTensor


class NpuFusedRMSpropTF(NpuFused, PerTensor):
    """`decoupled_decay` takes the decay from the weights, not scaled by the rate; else it is added to gradients."""

    def __init__(
        self,
        params,
        lr=1e-2,
        alpha=0.9,
        eps=1e-10,
        weight_decay=0,
        momentum=0.0,
        centered=False,
        decoupled_decay=False,
        lr_in_momentum=True,
    ):
        self._check_range(lr=lr, alpha=alpha, eps=eps, weight_decay=weight_decay, momentum=momentum)
        defaults = {"lr": lr, "alpha": alpha, "eps": eps, "weight_decay": weight_decay, "momentum": momentum}
        defaults |= {"centered": centered, "decoupled_decay": decoupled_decay, "lr_in_momentum": lr_in_momentum}
        super().__init__(params, defaults)

    def _decayed(self, parameter, grad, group):
        if not group["weight_decay"]:
            return grad
        if group["decoupled_decay"]:
            parameter.mul_(1 - group["weight_decay"])
            return grad
        return grad.add(parameter, alpha=group["weight_decay"])

    def _root(self, state, grad, group):
        new = 1 - group["alpha"]
        square = state["square_avg"]
        square.add_(grad * grad - square, alpha=new)
        if group["centered"]:
            mean = state["grad_avg"]
            mean.add_(grad - mean, alpha=new)
            square = square.addcmul(mean, mean, value=-1)
        return (square + group["eps"]).sqrt_()

    def _update(self, parameter, grad, group):
        names = ["square_avg"] + ["momentum_buffer"] * (group["momentum"] > 0) + ["grad_avg"] * group["centered"]
        state = self._state_of(parameter, names)
        state["step"] += 1
        grad = self._decayed(parameter, grad, group)
        root = self._root(state, grad, group)
        if group["momentum"] <= 0:
            parameter.addcdiv_(grad, root, value=-group["lr"])
            return
        inside, outside = (group["lr"], 1.0) if group["lr_in_momentum"] else (1.0, group["lr"])
        moved = state["momentum_buffer"].mul_(group["momentum"]).addcdiv_(grad, root, value=inside)
        parameter.add_(moved, alpha=-outside)
