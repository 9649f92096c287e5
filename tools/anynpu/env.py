# SPDX-License-Identifier: Apache-2.0
"""Prints a shell script that sets up the environment of a C or C++ program, like the set_env.sh of a CANN toolkit:
eval "$(anynpu env)" lets the compiler find our headers and -lascendcl, and the program its libraries. Python programs
do not need it."""

import shlex

from anynpu import place


def add_arguments(parser):
    parser.add_argument("--unset", action="store_true", help="print the script that takes the settings back")


def script(home, libraries):
    lines = [f"export {name}={shlex.quote(str(home))}" for name in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME")]
    lists = {"LD_LIBRARY_PATH": libraries, "LIBRARY_PATH": libraries, "CPATH": home / "include"}
    lines += [f"export {name}={shlex.quote(str(path))}${{{name}:+:${name}}}" for name, path in lists.items()]
    return lines


def removal(home, libraries):
    lines = ["unset ASCEND_HOME_PATH ASCEND_TOOLKIT_HOME"]
    lists = {"LD_LIBRARY_PATH": libraries, "LIBRARY_PATH": libraries, "CPATH": home / "include"}
    for name, path in lists.items():
        cut = f"tr : '\\n' | grep -vxF {shlex.quote(str(path))} | paste -sd:"
        lines += [f'export {name}="$(printf %s "${name}" | {cut})"', f'[ -n "${name}" ] || unset {name}']
    return lines


def execute(options):
    make = removal if options.unset else script
    print("\n".join(make(place.home(), place.libraries())))
    return 0
