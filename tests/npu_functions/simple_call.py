# SPDX-License-Identifier: Apache-2.0
"""A call of any function with arguments made after its schema: ones of one shape and type, and the simplest numbers."""

import torch


def value(argument, shape, dtype):
    kind = str(argument.type)
    if argument.has_default_value():
        return argument.default_value
    if kind == "Tensor":
        return torch.ones(shape, dtype=dtype).npu()
    if kind.startswith(("List[Tensor", "List[Optional[Tensor")):
        return [torch.ones(shape, dtype=dtype).npu() for _ in range(2)]
    if kind.startswith("List[int"):
        return [1] * (argument.N or len(shape))
    if kind.startswith("List[bool"):
        return [True] * (argument.N or 3)
    if kind == "str":
        return {"input_layout": "BNSD", "layout": "BNSD", "group_ep": "g", "group_tp": "g"}.get(argument.name, "")
    return {"int": 1, "float": 1.0, "number": 1.0, "bool": False, "List[float]": [1.0]}.get(kind)


def call(name, recipe):
    """All overloads in turn, as "4x4 float16" says. Gives the texts of their errors."""
    sizes, dtype = recipe.split()
    shape = [int(size) for size in sizes.split("x")]
    packet, texts = getattr(torch.ops.npu, name), []
    for overload in [each for each in packet.overloads() if each != "out"]:
        positional, named = [], {}
        for argument in getattr(packet, overload)._schema.arguments:
            made = value(argument, shape, getattr(torch, dtype))
            if argument.kwarg_only:
                named[argument.name] = made
            else:
                positional.append(made)
        try:
            getattr(packet, overload)(*positional, **named)
            torch.npu.synchronize()
        except Exception as error:  # whatever torch-npu or the library makes of it
            texts.append(str(error))
    return texts
