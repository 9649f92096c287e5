# SPDX-License-Identifier: Apache-2.0
"""What becomes of an operator on the NPU, for people: anynpu ops --why."""

import difflib

from anynpu.fallback import kernel


def names():
    import torch

    return set(torch._C._dispatch_get_all_op_names())


def asked(word, known):
    """The operators that `word` means: aten::add.Tensor, aten::add (all of its overloads), aten.add.Tensor, add."""
    word = word.replace("aten.", "aten::", 1) if word.startswith("aten.") else word
    name = word if "::" in word else f"aten::{word}"
    if "." in name and name in known:
        return [name]
    found = sorted(one for one in known if one.split(".")[0] == name)
    if not found:
        near = difflib.get_close_matches(name, {one.split(".")[0] for one in known} | known, n=4)
        hint = f"near to it are {', '.join(near)}" if near else "names look like aten::add.Tensor"
        raise ValueError(f"PyTorch has no operator {word}; {hint}")
    return found


def schema(name):
    import torch

    space, rest = name.split("::")
    base, _, overload = rest.partition(".")
    return getattr(getattr(getattr(torch.ops, space), base), overload or "default")._schema


def inputs(one):
    return [(a.name, str(a.type)) for a in one.arguments if not a.is_out]


def out_form(name, known):
    """The operator with the same inputs that writes into tensors it is given, which PyTorch's own kernel calls."""
    own = schema(name)
    base = name.split(".")[0]
    base = base[:-1] if base.endswith("_") and not base.endswith("__") else base
    for one in sorted(other for other in known if other.split(".")[0] == base):
        other = schema(one)
        if any(a.is_out for a in other.arguments) and inputs(other) == inputs(own):
            return one
    return None


def of_that_name(name, functions):
    """aclnn functions called like the operator: torch-npu does not tell which function a kernel calls."""
    base = name.split("::")[1].split(".")[0].strip("_")
    camel = "aclnn" + "".join(part.capitalize() for part in base.split("_"))
    wanted = {camel.lower(), f"aclnnInplace{camel[5:]}".lower()}
    return sorted(one for one in functions if one.lower() in wanted)


def of_own(name, functions):
    named = of_that_name(name, functions)
    if named:
        return f"kernel of torch-npu; functions of that name are here: {', '.join(named)}"
    return "kernel of torch-npu; no aclnn function is called like it, so which ones it calls is not known"


def of_explicit(name, functions, known):
    out = out_form(name, known)
    if out is not None and "NonFunctional" in kernel.kernel(name).source:
        return f"PyTorch makes it of {out}, which is: {told(out, functions, known)}"
    return "PyTorch's own kernel makes it of other operators below autograd; anynpu run --report tells which fall back"


def told(name, functions, known):
    """One line about one operator."""
    kind = kernel.kernel(name).kind
    if kind == kernel.OWN:
        return of_own(name, functions)
    if kind == kernel.FALLBACK:
        return "falls back to the CPU: torch-npu has no kernel for it, on any device; inputs and results are copied"
    if kind == kernel.COMPOSITE:
        return "composite: PyTorch decomposes it into other operators, each with a fate of its own"
    if kind == kernel.EXPLICIT:
        return of_explicit(name, functions, known)
    return "the dispatcher has nothing for it on the NPU: a call is an error"


def fates(word, functions):
    known = names()
    return [(name, told(name, functions, known)) for name in asked(word, known)]
