# SPDX-License-Identifier: Apache-2.0
"""Prints a shell script that sets up the environment of a C or C++ program, like the set_env.sh of a CANN toolkit:
eval "$(anynpu env)" lets the compiler find our headers and -lascendcl, and the program its libraries. Python programs
do not need it."""

import shlex

from anynpu import place


def add_arguments(parser):
    parser.add_argument("--unset", action="store_true", help="print the script that takes the settings back")


def search_lists():
    """{variable: the folders that we add in front of it}."""
    libraries = [place.libraries()]
    return {"LD_LIBRARY_PATH": libraries, "LIBRARY_PATH": libraries, "CPATH": place.headers()}


def script():
    single = {"ASCEND_TOOLKIT_HOME": str(place.home()), **place.toolkit()}
    lines = [f"export {name}={shlex.quote(value)}" for name, value in single.items()]
    for name, folders in search_lists().items():
        lines.append(f"export {name}={shlex.quote(':'.join(map(str, folders)))}${{{name}:+:${name}}}")
    return lines


def removal():
    lines = ["unset ASCEND_TOOLKIT_HOME ASCEND_HOME_PATH ASCEND_OPP_PATH"]
    for name, folders in search_lists().items():
        cut = " ".join(f"-e {shlex.quote(str(folder))}" for folder in folders)
        lines.append(f'export {name}="$(printf "%s\\n" "${name}" | tr : "\\n" | grep -vxF {cut} | paste -sd:)"')
        lines.append(f'[ -n "${name}" ] || unset {name}')
    return lines


def execute(options):
    print("\n".join(removal() if options.unset else script()))
    return 0
