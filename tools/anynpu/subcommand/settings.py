# SPDX-License-Identifier: Apache-2.0
"""Lists every environment variable that AnyNPU reads: type, default, value in force, and what it does. Then the
vendor's variables that a framework reads, or nobody, with what becomes of them."""

import os

from anynpu.library import door
from anynpu.output import table


def add_arguments(parser):
    parser.add_argument("--changed", action="store_true", help="only those whose value is not the default")


def effect(variable):
    return "acts" if variable.acts else "none"


def execute(options):
    shown = [s for s in door.settings() if not options.changed or s.in_force != s.default_text]
    rows = [[s.variable, s.type, s.default_text or '""', s.in_force or '""', s.sentence] for s in shown]
    print(table.columns(["variable", "type", "default", "in force", "meaning"], rows))
    theirs = [v for v in door.client_variables() if not options.changed or os.environ.get(v.variable)]
    if theirs:
        rows = [[v.variable, effect(v), os.environ.get(v.variable) or '""', v.sentence] for v in theirs]
        print("\n" + table.columns(["in a framework", "effect", "set to", "meaning"], rows))
    return 0
