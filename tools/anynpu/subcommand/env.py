# SPDX-License-Identifier: Apache-2.0
"""Prints a shell script that sets up the environment of a C or C++ program, like the set_env.sh of a CANN toolkit:
eval "$(anynpu env)" lets the compiler find our headers and -lascendcl, and the program its libraries. Python programs
do not need it. --install writes set_env.sh files where the vendor's guides source them: FOLDER/ascend-toolkit,
FOLDER/nnae and FOLDER/tfplugin, below /usr/local/Ascend for root and ~/Ascend for others unless it is given;
--uninstall takes them back. A file that is not ours stays."""

import os
import shlex
import sys
from pathlib import Path

from anynpu.library import place

PACKAGES = ("ascend-toolkit", "nnae", "tfplugin")
MARK = "# Written by anynpu env --install; anynpu env --uninstall takes it back.\n"


def add_arguments(parser):
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--unset", action="store_true", help="print the script that takes the settings back")
    for name, what in (("--install", "write set_env.sh files"), ("--uninstall", "take those back")):
        choice.add_argument(name, metavar="FOLDER", nargs="?", const=usual_folder(), help=what)


def usual_folder():
    return "/usr/local/Ascend" if os.geteuid() == 0 else str(Path("~/Ascend").expanduser())


def files(folder):
    """The files below `folder`; ValueError for one that is not ours."""
    found = [Path(folder, package, "set_env.sh") for package in PACKAGES]
    for path in found:
        if path.exists() and not path.read_text(errors="replace").startswith(MARK):
            raise ValueError(f"{path} is not ours: a toolkit is there; give another folder")
    return found


def install(folder):
    for path in files(folder):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'{MARK}eval "$({shlex.quote(sys.executable)} -m anynpu env)"\n')
        print(path)


def uninstall(folder):
    for path in files(folder):
        if path.exists():
            path.unlink()
            print(path)
        for emptied in (path.parent, path.parent.parent):
            if emptied.is_dir() and not any(emptied.iterdir()):
                emptied.rmdir()


def search_lists():
    """{variable: the folders that we add in front of it}."""
    libraries = [place.libraries()]
    return {
        "PATH": [place.profiler()],
        "LD_LIBRARY_PATH": libraries,
        "LIBRARY_PATH": libraries,
        "CPATH": place.headers(),
    }


def script():
    single = {"ASCEND_TOOLKIT_HOME": str(place.home()), **place.toolkit()}
    lines = [f"export {name}={shlex.quote(value)}" for name, value in single.items()]
    for name, folders in search_lists().items():  # once, however many set_env.sh files are sourced
        ours = ":".join(map(str, folders))
        lines.append(f'case ":${{{name}-}}:" in *{shlex.quote(f":{ours}:")}*) ;; *)')
        lines.append(f"  export {name}={shlex.quote(ours)}${{{name}:+:${name}}} ;; esac")
    return lines


def removal():
    lines = ["unset ASCEND_TOOLKIT_HOME ASCEND_HOME_PATH ASCEND_OPP_PATH"]
    for name, folders in search_lists().items():
        cut = " ".join(f"-e {shlex.quote(str(folder))}" for folder in folders)
        lines.append(f'export {name}="$(printf "%s\\n" "${name}" | tr : "\\n" | grep -vxF {cut} | paste -sd:)"')
        lines.append(f'[ -n "${name}" ] || unset {name}')
    return lines


def execute(options):
    if options.install or options.uninstall:
        install(options.install) if options.install else uninstall(options.uninstall)
        return 0
    print("\n".join(removal() if options.unset else script()))
    return 0
