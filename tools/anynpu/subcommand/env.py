# SPDX-License-Identifier: Apache-2.0
"""Prints a shell script that sets up the environment of a C or C++ program, like the set_env.sh of a CANN toolkit: eval
"$(anynpu env)" lets the compiler find our headers and -lascendcl, the program its libraries, and any Python the module
acl; programs of the Python that AnyNPU is installed in do not need it. --install makes the folders that the vendor's
guides name: set_env.sh and latest below FOLDER/ascend-toolkit and FOLDER/nnae; set_env.sh and
latest/python/site-packages/npu_device and npu_bridge below FOLDER/tfplugin. FOLDER is /usr/local/Ascend for root and
~/Ascend for others unless it is given. --uninstall removes them. What is not ours is never replaced or removed."""

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
    for name, what in (("--install", "make the folders of the guides"), ("--uninstall", "remove them")):
        choice.add_argument(name, metavar="FOLDER", nargs="?", const=usual_folder(), help=what)


def usual_folder():
    return "/usr/local/Ascend" if os.geteuid() == 0 else str(Path("~/Ascend").expanduser())


def links(folder):
    """{path of a symbolic link below `folder`: what it leads to, None for a package that is not installed}; the guides
    name these folders of a toolkit."""
    site = Path(folder, "tfplugin/latest/python/site-packages")
    return {
        **{Path(folder, name, "latest"): place.home() for name in ("ascend-toolkit", "nnae")},
        **{site / name: place.package_folder(name) for name in ("npu_device", "npu_bridge")},
    }


def is_ours(path):
    """Whether `path` is a set_env.sh that we have written, or a link beside one."""
    if path.is_symlink():
        return any(is_ours(folder / "set_env.sh") for folder in path.parents if folder.name in PACKAGES)
    return path.is_file() and path.read_text(errors="replace").startswith(MARK)


def paths(folder):
    """All that is made below `folder`; ValueError for one that exists and is not ours."""
    found = [*(Path(folder, package, "set_env.sh") for package in PACKAGES), *links(folder)]
    for path in found:
        if (path.exists() or path.is_symlink()) and not is_ours(path):
            raise ValueError(f"{path} is not ours: a toolkit is there; give another folder")
    return found


def install(folder):
    leads = links(folder)
    for path in paths(folder):
        if path in leads and leads[path] is None:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if path in leads:
            path.unlink(missing_ok=True)
            path.symlink_to(leads[path])
        else:
            path.write_text(f'{MARK}eval "$({shlex.quote(sys.executable)} -m anynpu env)"\n')
        print(path)


def uninstall(folder):
    root = Path(folder)
    for path in reversed(paths(folder)):  # the links first, which are known by the file beside them
        if path.exists() or path.is_symlink():
            path.unlink()
            print(path)
        for emptied in path.parents:
            if not emptied.is_relative_to(root) or not emptied.is_dir() or any(emptied.iterdir()):
                break
            emptied.rmdir()


def search_lists():
    """{variable: the folders that we add in front of it}."""
    libraries = [place.libraries()]
    return {
        "PATH": [place.profiler()],
        "PYTHONPATH": [place.python_packages()],
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
