# SPDX-License-Identifier: Apache-2.0
"""Sees every call of an operator in the threads it was entered in, and in the backward passes they start, and counts
those that the dispatcher hands to torch-npu's fallback. It calls what the dispatcher would have called. Kernels that
are made of operators run with the observer on, for the operator that falls back may be one inside: torch.linalg.inv
is aten::linalg_inv_ex, whose kernel of PyTorch's calls aten::linalg_inv_ex.inverse, which falls back."""

import functools
import threading

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from anynpu.fallback import kernel, line
from anynpu.fallback.count import Operator, place

PLAIN = (torch.Tensor, torch.nn.Parameter)
TENSOR = torch._C.TensorType.get()
NUMBER = (bool, int, float, complex)
BELOW = torch._C.DispatchKeySet(torch._C.DispatchKey.PrivateUse1)
CURE = (
    "move its inputs to the CPU for this call (.cpu()) and the result back, call another operator, or run without "
    "--strict"
)


def tensors_in(values):
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from tensors_in(value)


def on_npu(values):
    return [one for one in tensors_in(values) if one.device.type == "npu"]


def size(tensor):
    """Bytes that a copy of it moves."""
    if tensor.layout == torch.sparse_coo:
        return size(tensor._indices()) + size(tensor._values())
    if tensor.layout != torch.strided:
        parts = [tensor.values()]
        rows = tensor.layout in (torch.sparse_csr, torch.sparse_bsr)
        parts += (
            [tensor.crow_indices(), tensor.col_indices()] if rows else [tensor.ccol_indices(), tensor.row_indices()]
        )
        return sum(map(size, parts))
    return tensor.numel() * tensor.element_size()


def key_of(tensors, kwargs):
    """The backend that the call goes to; None if it is not the NPU's."""
    for one in tensors:
        if one.layout != torch.strided:
            return kernel.key_of(one.layout)
    if tensors:
        return kernel.DENSE
    device = kwargs.get("device")
    return kernel.DENSE if device is not None and torch.device(device).type == "npu" else None


def written(func, args, kwargs):
    """The arguments that the operator writes, which the fallback copies back."""
    for i, argument in enumerate(func._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            yield kwargs[argument.name] if argument.name in kwargs else args[i] if i < len(args) else None


def size_back(func, args, kwargs, result):
    fresh = [one.alias_info is None for one in func._schema.returns]
    values = result if isinstance(result, tuple | list) and len(fresh) == len(result) else [result]
    back = [*written(func, args, kwargs), *(v for v, new in zip(values, fresh, strict=False) if new)]
    return sum(map(size, on_npu(back)))


@functools.cache
def takes_numbers(func):
    return torch._C._should_allow_numbers_as_tensors(func._schema.name.split("::")[-1])


@functools.cache
def wants_tensors(func):
    """Places and names of the arguments that are tensors."""
    return [(i, one.name) for i, one in enumerate(func._schema.arguments) if one.type is TENSOR]


def has_number_for_tensor(func, args, kwargs):
    """x.add_(1) calls aten::add_.Tensor; only a call through the whole dispatcher takes a number for a tensor."""
    given = (kwargs.get(name, args[i] if i < len(args) else None) for i, name in wants_tensors(func))
    return any(isinstance(one, NUMBER) for one in given)


def tensor_of(number):
    """As PyTorch makes them of Python's numbers."""
    wide = {float: torch.float64, complex: torch.complex128}
    return torch.tensor(number, dtype=wide.get(type(number))) if isinstance(number, NUMBER) else number


def call(func, args, kwargs):
    """A mode is given numbers for tensors that PyTorch made of numbers, also where the operator takes tensors alone."""
    if has_number_for_tensor(func, args, kwargs) and not takes_numbers(func):
        wanted = wants_tensors(func)
        places, names = {i for i, _ in wanted}, {name for _, name in wanted}
        args = tuple(tensor_of(one) if i in places else one for i, one in enumerate(args))
        kwargs = {name: tensor_of(one) if name in names else one for name, one in kwargs.items()}
    return func(*args, **kwargs)


def node_of_autograd():
    """Who calls in a backward pass; empty outside one."""
    if torch._C._current_graph_task_id() < 0:
        return ""
    node = torch._C._current_autograd_node()
    return node.name() if node is not None else "autograd"


class Observer(TorchDispatchMode):
    """One for a process; threads share its counts."""

    def __init__(self, counts, strict):
        super().__init__()
        self.counts, self.strict = counts, strict
        self.open = threading.local()  # the calls that this thread is inside of

    @classmethod
    def ignore_compile_internals(cls):
        return True  # torch.compile does not trace it

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if any(one.__module__.startswith("torch._subclasses") for one in types):
            return func(*args, **kwargs)  # the compiler's stand-ins: nothing is computed
        if any(one not in PLAIN for one in types):
            return NotImplemented  # a subclass says itself which operators it is made of
        mine = on_npu((args, list(kwargs.values())))
        key = key_of(mine, kwargs)
        if key is None:
            return call(func, args, kwargs)
        kind = kernel.kernel(func.name(), key).kind
        if kind == kernel.FALLBACK:
            return self.fall_back(func, args, kwargs, mine)
        if kind in (kernel.OWN, kernel.EXPLICIT) and key == kernel.DENSE and mine:
            return self.look_inside(func, args, kwargs)
        return call(func, args, kwargs)

    def calls(self):
        if not hasattr(self.open, "calls"):
            self.open.calls = []
        return self.open.calls

    def describe(self, func):
        calls, node = self.calls(), node_of_autograd()
        return Operator(func.name(), calls[0].name() if calls else "", line.current(bool(node)), node)

    def fall_back(self, func, args, kwargs, tensors):
        if self.strict:
            raise RuntimeError(refusal(self.describe(func)))
        there = sum(map(size, tensors))
        result = call(func, args, kwargs)
        moved = there + size_back(func, args, kwargs, result)
        self.counts.add(func.name(), bool(node_of_autograd()), moved, lambda: self.describe(func))
        return result

    def look_inside(self, func, args, kwargs):
        calls = self.calls()
        # PyTorch calls detach again for an observer.
        if func.is_view or func in calls or has_number_for_tensor(func, args, kwargs):
            return call(func, args, kwargs)
        calls.append(func)
        try:
            with self:
                return func.redispatch(BELOW, *args, **kwargs)
        finally:
            calls.pop()


def refusal(operator):
    through = f" (called for {operator.called_for})" if operator.called_for else ""
    return (
        f"{operator.op}{through} would run on the host, {place(vars(operator))}: {operator.reason}. Under "
        f"anynpu run --strict this is an error; {CURE}"
    )
