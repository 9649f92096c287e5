# SPDX-License-Identifier: Apache-2.0
"""Writes signatures.tsv: of TensorFlow's operators those that the engine knows, for models read without TensorFlow.

Run with TensorFlow installed, after an operator was added; tests/tensorflow compares the table with TensorFlow's own.
"""

import sys
from pathlib import Path

from tensorflow.core.framework import op_def_pb2
from tensorflow.python.client import pywrap_tf_session
from tensorflow.python.framework.c_api_util import tf_buffer

HEAD = "operator\tinputs\toutputs\tdefaults\tstateful"
ALSO = (
    *("Placeholder", "PlaceholderV2", "VarHandleOp", "VariableV2", "Variable", "NoOp", "PartitionedCall", "Assert"),
    # dataflow control, which is read as loops and branches
    *("Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond"),
    *("RefSwitch", "RefMerge", "RefEnter", "RefExit", "RefNextIteration"),
)


def formal(arg):
    """`name:T` by an attribute, `name:=1` of that DataType, `name:N*T` as many as N says, `name:[T]` of a list."""
    if arg.type_list_attr:
        return f"{arg.name}:[{arg.type_list_attr}]"
    kind = arg.type_attr or f"={arg.type}"
    return f"{arg.name}:{arg.number_attr}*{kind}" if arg.number_attr else f"{arg.name}:{kind}"


def row(op):
    defaults = [f"{a.name}={a.default_value.SerializeToString().hex()}" for a in op.attr if a.HasField("default_value")]
    cells = (" ".join(map(formal, op.input_arg)), " ".join(map(formal, op.output_arg)), " ".join(defaults))
    return "\t".join((op.name, *(cell or "-" for cell in cells), "1" if op.is_stateful else "0"))


def all_operators():
    """TensorFlow's operators by name."""
    ops = op_def_pb2.OpList()
    with tf_buffer() as buffer:
        ops.ParseFromString(pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList()))
        del buffer
    return {op.name: op for op in ops.op}


def table(names):
    """The text of the table for these operators."""
    known = all_operators()
    return "\n".join([HEAD, *(row(known[name]) for name in sorted({*names, *ALSO} & known.keys()))]) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(table(Path(sys.argv[2]).read_text().split()))
