# SPDX-License-Identifier: Apache-2.0
"""Cases of the Foreach functions: the element-wise ones over lists, with numbers given in each of their forms."""

import inspect

import torch
from case import REAL, T, case

FLOAT = [torch.float32, torch.float16, torch.bfloat16]


def tensors(low=-2.0, high=2.0):
    return [T(4, 5, low=low, high=high), T(7, low=low, high=high), T(low=low, high=high)]


def each(function):
    """`function` over the members of the lists among its arguments; other arguments serve every member.

    A tensor of three elements is a list of numbers, one for each of the three tensors of `tensors`.
    """

    def oracle(*arguments):
        arguments = [list(a) if isinstance(a, torch.Tensor) and a.shape == (3,) else a for a in arguments]
        count = max(len(a) for a in arguments if isinstance(a, list))
        pick = [[a[i] if isinstance(a, list) else a for a in arguments] for i in range(count)]
        return [function(*members) for members in pick]

    return oracle


def foreach(name, function, dtypes=FLOAT, **values):
    """`function` gets the values in the order of the line, numbers as torch numbers or one-element tensors."""
    run = each(function)

    def oracle(**named):
        # The outer list: one written argument, which is a list.
        return (run(*[named[n] for n in values]),)

    oracle.__signature__ = inspect.Signature([inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY) for n in values])
    case(f"aclnnForeach{name}", oracle, dtypes, layouts=("plain", "transposed", "sliced"), **values)


UNARY = {
    "Abs": (-2, 2), "Acos": (-1, 1), "Asin": (-1, 1), "Atan": (-4, 4), "Cos": (-9, 9), "Cosh": (-3, 3), "Erf": (-3, 3),
    "Erfc": (-3, 3), "Exp": (-3, 3), "Expm1": (-3, 3), "Log": (0.1, 9), "Log10": (0.1, 9), "Log1p": (-0.5, 9),
    "Log2": (0.1, 9), "Neg": (-2, 2), "Reciprocal": (0.5, 3), "Sigmoid": (-5, 5), "Sign": (-2, 2), "Sin": (-9, 9),
    "Sinh": (-3, 3), "Sqrt": (0, 9), "Tan": (-1.4, 1.4), "Tanh": (-3, 3),
}  # fmt: skip
for name, (low, high) in UNARY.items():
    foreach(name, getattr(torch, name.lower()), REAL, self=tensors(low, high))

HALF = T(values=lambda g: torch.tensor(0.5))  # a number in a 0-dim tensor
ONE = T(1, values=lambda g: torch.tensor([0.5]))  # and in a tensor of one element


def scaled(function):
    return lambda self, other, alpha: function(self, alpha * other)


foreach("SubListV2", scaled(torch.sub), [torch.int32], self=tensors(), other=tensors(), alpha=2)
for name, function in {"Add": torch.add, "Sub": torch.sub}.items():
    foreach(f"{name}List", scaled(function), self=tensors(), other=tensors(), alpha=HALF)
    foreach(f"{name}ListV2", scaled(function), self=tensors(), other=tensors(), alpha=0.5)
for name, function in {"Mul": torch.mul, "Div": torch.div, "Maximum": torch.maximum, "Minimum": torch.minimum}.items():
    foreach(f"{name}List", function, self=tensors(), other=tensors(0.5, 2))
for name, function in {"Add": torch.add, "Sub": torch.sub, "Mul": torch.mul, "Div": torch.div}.items():
    foreach(f"{name}Scalar", function, self=tensors(), other=HALF)
    foreach(f"{name}ScalarV2", function, self=tensors(), other=1.5)
    foreach(f"{name}ScalarList", function, self=tensors(), other=[1.5, -2.0, 0.5])
for name, function in {"Maximum": torch.clamp_min, "Minimum": torch.clamp_max}.items():
    foreach(f"{name}Scalar", function, self=tensors(), other=ONE)
    foreach(f"{name}ScalarV2", function, self=tensors(), other=0.5)
    foreach(f"{name}ScalarList", function, self=tensors(), other=[0.5, -1.0, 0.0])

for name, function in {
    "Addcmul": lambda a, b, c, v: a + v * b * c,
    "Addcdiv": lambda a, b, c, v: a + v * b / c,
}.items():
    lists = {"self": tensors(), "tensor1": tensors(), "tensor2": tensors(0.5, 2)}
    foreach(f"{name}Scalar", function, **lists, value=HALF)
    foreach(f"{name}ScalarV2", function, **lists, value=0.5)
    # One value per member, in a tensor.
    foreach(f"{name}ScalarList", function, **lists, value=T(3, values=lambda g: torch.tensor([0.5, 2.0, -1.0])))

foreach("LerpList", torch.lerp, self=tensors(), end=tensors(), weight=tensors(0, 1))
foreach("LerpScalar", torch.lerp, self=tensors(), end=tensors(), weight=0.25)
foreach("PowList", torch.pow, self=tensors(0.5, 2), exponent=tensors())
foreach("PowScalar", torch.pow, self=tensors(0.5, 2), exponent=HALF)
foreach("PowScalarV2", torch.pow, self=tensors(0.5, 2), exponent=2.5)
foreach("PowScalarList", torch.pow, self=tensors(0.5, 2), exponent=[2.0, 0.5, -1.5])
foreach("PowScalarAndTensor", torch.pow, self=2.5, exponent=tensors())
ROUNDING = {1: torch.round, 2: torch.floor, 3: torch.ceil, 5: torch.trunc, 7: torch.frac}
for mode, function in ROUNDING.items():
    number = T(1, dtype=torch.int8, values=lambda g, m=mode: torch.tensor([m], dtype=torch.int8))
    foreach("RoundOffNumber", lambda self, mode, f=function: f(self), self=tensors(-9, 9), mode=number)
    foreach("RoundOffNumberV2", lambda self, mode, f=function: f(self), self=tensors(-9, 9), mode=mode)
for order in (1.0, 2.0):
    foreach("Norm", lambda self, ord: torch.linalg.vector_norm(self, ord), self=tensors(), ord=order)
foreach("Copy", lambda self: self, REAL, self=tensors())
case("aclnnForeachZeroInplace", lambda self: ([torch.zeros_like(t) for t in self],), REAL, self=tensors(),
     layouts=("plain", "sliced"))  # fmt: skip
