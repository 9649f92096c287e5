# SPDX-License-Identifier: Apache-2.0
"""Checks this machine and this installation: versions, CPU, memory, whether ranks can meet, libraries and the order in
which they are found, clashes with a real CANN, features that are not built. Every finding comes with its cure. The exit
code is 1 if something must be mended, else 0."""

from anynpu.doctor import frameworks, installation, machine, ranks, search_path, unbuilt
from anynpu.doctor.finding import Finding

CHECKS = (
    installation.check_files,
    installation.check_core,
    *frameworks.CHECKS,
    *machine.CHECKS,
    *ranks.CHECKS,
    *search_path.CHECKS,
    installation.check_migration,
    unbuilt.check_unbuilt,
)


def findings():
    """All findings; a library that does not load spoils no other check."""
    failures = set()
    for check in CHECKS:
        try:
            yield from check()
        except OSError as error:
            if str(error) not in failures:
                yield Finding("bad", str(error), "install what is named above, or reinstall AnyNPU: pip install .")
            failures.add(str(error))


def add_arguments(parser):
    parser.add_argument("--quiet", action="store_true", help="only what must be mended")
    parser.add_argument(
        "--all", action="store_true", help="also the names of what is not built, and what to do instead"
    )


def execute(options):
    worst, counted = 0, False
    for finding in findings():
        if finding.grade == "bad":
            worst = 1
        if finding.grade == "bad" or not options.quiet:
            print(finding.shown(options.all))
            counted = counted or bool(finding.names)
    if counted and not options.all:
        print("     -> anynpu doctor --all lists these names, and what to do instead")
    print("something must be mended: follow the arrows" if worst else "all is well")
    return worst
