# SPDX-License-Identifier: Apache-2.0
"""Lists the operators of this build, by family, with the aclnn functions through which clients reach them. --missing
lists instead the aclnn functions that the installed torch-npu may ask for and this build does not have; --why tells
what becomes of an operator of PyTorch: a kernel of torch-npu, other operators, or the CPU; without a name, which
kernels compute products and convolutions on this CPU."""

import re
from collections import defaultdict

from anynpu.library import door, place
from anynpu.output import table

KERNELS = ""  # --why without a name
WAYS = {"o": "own", "l": "oneDNN"}
FIRST_SIZE = 13  # the first letter of anynpu_choice.ways: fewer than 2^13 weights


def add_arguments(parser):
    parser.add_argument("--family", help="only operators of this family")
    parser.add_argument("--missing", action="store_true", help="what torch-npu may ask for and is not there")
    parser.add_argument(
        "--why",
        metavar="NAME",
        nargs="?",
        const=KERNELS,
        help="what becomes of PyTorch's operator NAME, as aten::add.Tensor; without NAME, which kernels compute "
        "products and convolutions on this CPU",
    )


def asked_for():
    """Names that torch-npu's libraries look up: those that also stand there as NameGetWorkspaceSize."""
    folder = place.package_folder("torch_npu")
    if folder is None:
        raise ValueError("torch-npu is not installed, so nothing is asked for: pip install 'anynpu[torch]'")
    names = set()
    for library in folder.glob("lib/*.so"):
        names |= set(re.findall(rb"\0(aclnn[A-Z]\w+)(?=\0)", library.read_bytes()))
    suffix = b"GetWorkspaceSize"
    return sorted(n.decode() for n in names if not n.endswith(suffix) and n + suffix in names)


def reached_by():
    """{operator: aclnn functions that call it}; a list function (foreach:add) calls the operator of its members."""
    found = defaultdict(list)
    for function in door.functions():
        found[function.operator_name.split(":")[-1]].append(function.name)
    return found


def show_missing():
    asked, have = asked_for(), {f.name for f in door.functions()}
    missing = [name for name in asked if name not in have]
    print("\n".join(missing))
    print(f"{len(missing)} of {len(asked)} functions that torch-npu may ask for are missing")
    return 0


def show_fate(name):
    try:
        import torch_npu  # noqa: F401, it registers its kernels
    except ImportError as error:
        raise ValueError(f"torch-npu cannot be imported ({error}): pip install 'anynpu[torch]'") from None
    from anynpu.fallback import fate

    print(table.columns(["operator", "on the NPU"], fate.fates(name, {f.name for f in door.functions()})))
    return 0


def show_kernels():
    found = door.choices()
    if not found:
        print("oneDNN computes all products and convolutions on this CPU: AnyNPU's own kernels were measured on others")
        return 0
    print(f"Kernels of products and convolutions, by the number of weights, as measured on {found[0].cpu}")
    count = len(found[0].ways)
    sizes = [f"<2^{FIRST_SIZE + i}" for i in range(count - 1)] + ["more"]
    rows = [[f"{c.work}, {c.dtype}, {c.variant}, {c.shapes}", *(WAYS[way] for way in c.ways)] for c in found]
    print(table.columns(["shapes", *sizes], rows))
    return 0


def execute(options):
    if options.why == KERNELS:
        return show_kernels()
    if options.why:
        return show_fate(options.why)
    if options.missing:
        return show_missing()
    operators, reached = door.operators(), reached_by()
    families = sorted({op.family for op in operators})
    if options.family and options.family not in families:
        raise ValueError(f"there is no family {options.family}; there are {', '.join(families)}")
    shown = sorted((op for op in operators if options.family in (None, op.family)), key=lambda op: (op.family, op.name))
    print(
        table.columns(
            ["family", "operator", "reached by"], [[o.family, o.name, " ".join(reached[o.name])] for o in shown]
        )
    )
    print(f"{len(shown)} operators, {len(door.functions())} aclnn functions in all")
    return 0
