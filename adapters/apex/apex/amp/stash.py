# SPDX-License-Identifier: Apache-2.0
"""What amp keeps of an optimizer: float32 masters of half weights, and gradients between backwards."""

import torch

from ..contrib.combine_tensors import FlatGrads
from . import reduction


class Stash:
    def __init__(self, options):
        self.options = options
        self.pairs = []  # (half weight of the model, its float32 master)
        self.plain = []  # weights that the optimizer changes itself
        self.held = {}  # plain weight: its gradient of earlier backwards, unscaled
        self.held_flat = {}  # combined gradients: the same
        self.flats = None  # combined gradients, after the first backward
        self.is_scaled = False  # gradients of a delayed unscaling are there
        self.scale = None  # theirs
        self.live = set()  # half weights that have given their gradient to a master and still hold it
        self.skip = False  # the next step

    def add(self, parameter):
        """What goes into the optimizer's group for a weight."""
        if not parameter.requires_grad or not self.options.master_weights or parameter.dtype == torch.float32:
            self.plain.append(parameter)
            return parameter
        master = parameter.detach().clone().float().requires_grad_()
        self.pairs.append((parameter, master))
        return master

    def weights(self):
        return [weight for weight, _ in self.pairs] + self.plain

    def _combined(self):
        return {parameter for flat in self.flats or () for parameter in flat.parameters}

    def _is_model_half(self, flat):
        return bool(self.pairs) and flat.parameters[0].dtype != torch.float32

    def before_backward(self, scale):
        if self.is_scaled:
            if scale != self.scale:
                text = f"amp: gradients scaled by {self.scale} wait for unscaling, this loss has the scale {scale}; "
                raise RuntimeError(text + "give losses that share delay_unscale one loss_id")
            return
        self.scale = scale
        combined = self._combined()
        for flat in self.flats or ():
            flat.attach(self.options.check_combined_tensors)
            if not flat.is_zero and not self._is_model_half(flat):
                self.held_flat[flat] = flat.flat.clone()
            flat.zero()
            flat.is_zero = False
        for weight, master in self.pairs:
            if weight in self.live and weight.grad is None:
                master.grad = None  # model.zero_grad() knows of no masters
            if weight not in combined:
                weight.grad = None
        for weight in self.plain:
            if weight not in combined:
                self.held[weight], weight.grad = weight.grad, None

    def _combine(self):
        """After the first backward: those that have a gradient share a buffer for each type."""
        by_type = {}
        for weight in self.weights():
            if weight.grad is not None:
                by_type.setdefault(weight.grad.dtype, []).append(weight)
        self.flats = [FlatGrads(same) for same in by_type.values()]
        for flat in self.flats:
            flat.is_zero = False
        if self.options.combine_ddp:
            reduction.check_equal([flat.flat for flat in self.flats])

    def _check_dense(self):
        if any(weight.grad is not None and weight.grad.layout != torch.strided for weight in self.weights()):
            raise RuntimeError("amp: sparse gradients are not supported; use sparse=False in embeddings")

    @torch.no_grad()
    def after_backward(self, scaler):
        """Takes the scale out of the new gradients and adds them to those of earlier backwards."""
        self._check_dense()
        if self.options.combine_grad:
            if self.flats is None:
                self._combine()
            for flat in self.flats:
                flat.attach(self.options.check_combined_tensors)
        if self.options.combine_ddp:
            self._reduce()
        new = [(master, weight.grad.float()) for weight, master in self.pairs if weight.grad is not None]
        kept = [flat for flat in self.flats or () if not self._is_model_half(flat)]
        in_flats = {parameter for flat in kept for parameter in flat.parameters}
        loose = [weight.grad for weight in self.plain if weight.grad is not None and weight not in in_flats]
        scaler.unscale([grad for _, grad in new] + loose + [flat.flat for flat in kept])
        self.live = {weight for weight, _ in self.pairs if weight.grad is not None}
        for master, grad in new:
            master.grad = grad if master.grad is None else master.grad.add_(grad)
        self._add_held()

    def _reduce(self):
        reduction.mean([flat.flat for flat in self.flats], self.options.ddp_replica_count)
        combined = self._combined()
        late = [weight.grad for weight in self.weights() if weight.grad is not None and weight not in combined]
        if late:
            text = "combine_ddp: a parameter got its first gradient after the first backward, "
            raise RuntimeError(text + "where the ranks share none for it; use DistributedDataParallel for such models")

    def _add_held(self):
        for weight, held in self.held.items():
            if held is not None:
                weight.grad = held if weight.grad is None else weight.grad.add_(held)
        for flat, held in self.held_flat.items():
            flat.flat.add_(held)
        self.held.clear()
        self.held_flat.clear()

    @torch.no_grad()
    def masters_to_model(self):
        for weight, master in self.pairs:
            weight.copy_(master)

    def _zero_combined(self, within):
        for flat in self.flats or ():
            flat.attach(self.options.check_combined_tensors)
            if within is None or within.issuperset(flat.parameters):
                flat.zero()
            else:
                flat.zero_of(within)

    def zero_grad(self, set_to_none, within=None):
        """All gradients, or those of the model's weights `within`."""
        combined = self._combined()
        self._zero_combined(within)
        for weight, own in [*self.pairs, *((weight, weight) for weight in self.plain)]:
            if within is not None and weight not in within:
                continue
            for tensor in {weight, own} - combined:
                if tensor.grad is not None:
                    tensor.grad = None if set_to_none else tensor.grad.detach().zero_()
        self.is_scaled = self.is_scaled and within is not None
