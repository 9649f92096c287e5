# SPDX-License-Identifier: Apache-2.0
"""What becomes of an operator, from the registries that the product itself uses: the engine's kinds of node, asked of
libanynpu.so, and TensorFlow's CPU kernels."""

import ctypes as C
import functools
import os
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[3]
# They are no kinds of node: constants and inputs are part of a function's form, variables are made by the adapter.
STRUCTURE = {"Const", "Placeholder", "VarHandleOp"}
# Native with values of any type: they hand them on.
HANDING_ON = STRUCTURE | {"Assert", "Case", "Identity", "IdentityN", "If", "OptionalFromValue", "PartitionedCall",
                          "PlaceholderWithDefault", "StatefulPartitionedCall", "StatelessCase", "StatelessIf",
                          "StatelessWhile", "While"}  # fmt: skip
# Native with complex numbers: they are what these are about.
OF_COMPLEX = {f"{kind}{axes}" for kind in ("FFT", "IFFT", "IRFFT") for axes in ("", "2D", "3D")}
PIPELINE_NOTE = "input pipeline, runs on the host"
SESSIONS_NOTE = "with -c: sessions of TensorFlow 1"  # which alone have references
PIPELINE = re.compile(r".*(Dataset|Iterator).*")
FOREIGN = [
    (re.compile(r".*(TPU|Infeed|Outfeed|Prelinearize|CrossReplicaSum|WorkerHeartbeat).*"), "for TPUs"),
    (re.compile(r"(Cudnn|Nccl).*|CTCLossV2"), "for GPUs"),
]


@functools.cache
def native():
    """The operators that run on the NPU."""
    library = C.CDLL(os.environ.get("ANYNPU_LIBRARY") or str(ROOT / "build/lib/libanynpu.so"), C.RTLD_LOCAL)
    found = set(STRUCTURE)
    visit = C.CFUNCTYPE(None, C.c_char_p, C.c_void_p)(lambda name, _: found.add(name.decode()))
    library.anynpu_each_node_kind(visit, None)
    return found


@functools.cache
def on_the_host():
    """The operators that TensorFlow has a CPU kernel for."""
    from tensorflow.python.framework import kernels

    return {k.op for k in kernels.get_all_registered_kernels().kernel if k.device_type in ("CPU", "DEFAULT")}


@functools.cache
def works_on_references(op):
    from tensorflow.python.framework import op_def_registry

    definition = op_def_registry.get(op)
    return definition is not None and any(a.is_ref for a in [*definition.input_arg, *definition.output_arg])


@functools.cache
def of_operator(op):
    """(class, note) of one operator."""
    if op in native():
        return "native", ""
    for pattern, note in FOREIGN:
        if pattern.fullmatch(op):
            return "unsupported", note
    if op not in on_the_host():
        return "unsupported", "no CPU kernel"
    if PIPELINE.fullmatch(op):
        return "native", PIPELINE_NOTE
    if works_on_references(op):
        return "migrated", SESSIONS_NOTE
    return "host", op


MOST_NAMED = 4  # operators of a note
TRIVIAL = {"Const", "Placeholder", "NoOp", "Identity"}


def _named(operators):
    return " ".join(sorted(operators)[:MOST_NAMED]) + (" …" if len(operators) > MOST_NAMED else "")


def _left_to_host(operators):
    """Of {type: whether it had inputs of types that stay on the host}, those that run there."""
    return {
        op
        for op, unusual in operators.items()
        if of_operator(op)[0] == "host" or (unusual and op in native() and op not in HANDING_ON | OF_COMPLEX)
    }


def of_operators(operators, first):
    """(class, note) of what uses these operators, and those for first values of variables."""
    # Keras traces recurrent layers for GPUs as well, and TensorFlow drops what does not fit the device.
    operators = {op: unusual for op, unusual in operators.items() if not op.startswith("Cudnn")}
    refused = [op for op in operators if of_operator(op)[0] == "unsupported"]
    if refused:
        return "unsupported", _named(refused)
    if any(of_operator(op)[0] == "migrated" for op in operators):
        return "migrated", SESSIONS_NOTE
    host = _left_to_host(operators)
    if host:
        return "host", _named(host)
    if any(of_operator(op)[1] for op in operators):
        return "native", PIPELINE_NOTE
    host = _left_to_host(first)
    if host:
        return "native", f"first values on the host: {_named(host)}"
    return "native", "" if set(operators) - {"Placeholder"} else "no device operator"
