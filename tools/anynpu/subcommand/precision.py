# SPDX-License-Identifier: Apache-2.0
"""Shows what a precision mode of TensorFlow programs (precision_mode, precision_mode_v2) makes of each operator of a
float32 graph, and the list it is on. What an operator of a program became is told by npu.open().report()."""

from anynpu.library import door
from anynpu.output import table


def add_arguments(parser):
    parser.add_argument("operator", nargs="*", help="only these, by TensorFlow's name or the vendor's")
    parser.add_argument("--mode", default="", help="a word of either option; without it the default of the SoC")
    parser.add_argument("--list", choices=["white", "gray", "black", "clear"], help="only operators on this list")


def names_of(one):
    return {one.op, *one.aliases.split()}


def chosen(operators, wanted):
    known = set().union(*(names_of(one) for one in operators))
    missing = [name for name in wanted if name not in known]
    if missing:
        raise ValueError(f"the table has no operator {', '.join(missing)}; those without a line keep their types")
    return [one for one in operators if not wanted or names_of(one) & set(wanted)]


def execute(options):
    effects = door.precision_effects(options.mode)
    shown = chosen(door.operator_precisions(), options.operator)
    shown = [one for one in shown if options.list in (None, one.list)]
    rows = [[one.op, one.aliases, one.unit, one.list, one.dtypes or "-", effects[one.op]] for one in shown]
    head = ["operator", "the vendor's names", "unit", "list", "beside float32", options.mode or "default of the SoC"]
    print(table.columns(head, rows))
    return 0
