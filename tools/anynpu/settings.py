# SPDX-License-Identifier: Apache-2.0
"""Lists every environment variable that AnyNPU reads: type, default, value in force, and what it does."""

from anynpu import door, table


def add_arguments(parser):
    parser.add_argument("--changed", action="store_true", help="only those whose value is not the default")


def execute(options):
    shown = [s for s in door.settings() if not options.changed or s.in_force != s.default_text]
    rows = [[s.variable, s.type, s.default_text or '""', s.in_force or '""', s.sentence] for s in shown]
    print(table.columns(["variable", "type", "default", "in force", "meaning"], rows))
    return 0
