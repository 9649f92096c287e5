# SPDX-License-Identifier: Apache-2.0
"""What `anynpu doctor` checks of the order in which libraries are found: clashes with a real CANN."""

import os
from pathlib import Path

from anynpu.doctor.finding import Finding
from anynpu.library import place


def check_rpath():
    folder = place.rpath_folder()
    if folder is None:
        return
    library = folder / "libascendcl.so"
    if place.is_ours(library):
        yield Finding("ok", f"torch-npu finds our libraries first, in {folder}")
    elif library.exists():
        cure = f"move {folder} away and reinstall AnyNPU: torch-npu uses that file whatever the environment says"
        yield Finding("bad", f"{library} is not ours", cure)
    else:
        cure = "nothing to do; to load without the hook, install AnyNPU into the same environment as torch-npu"
        yield Finding("note", f"{folder} is not there; anynpu.preload opens our libraries before torch_npu", cure)


def search_folders(variable):
    return [Path(entry) for entry in os.environ.get(variable, "").split(":") if entry]


def check_order():
    names = [path.name for path in place.vendor_libraries(place.libraries())]
    for name in names:
        for folder in search_folders("LD_LIBRARY_PATH"):
            if (folder / name).exists():
                if not place.is_ours(folder / name):
                    cure = f"take {folder} out of LD_LIBRARY_PATH (anynpu env prints ours)"
                    yield Finding("bad", f"C programs load {folder / name}, which is not ours", cure)
                break
    if os.environ.get("LD_PRELOAD"):
        cure = "unset LD_PRELOAD unless you need it"
        yield Finding("note", "LD_PRELOAD is set: torch-npu then looks for functions in it first", cure)


def check_toolkit():
    for variable in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_OPP_PATH", "ASCEND_CUSTOM_OPP_PATH"):
        value = os.environ.get(variable)
        if not value or Path(value) in (place.home(), place.home() / "opp"):
            continue
        cure = f"unset {variable}, or start from a shell that has not run the toolkit's set_env.sh"
        if list(Path(value).glob("lib64/libopapi_*.so")) or variable == "ASCEND_CUSTOM_OPP_PATH":
            yield Finding("bad", f"{variable}={value}: torch-npu asks the libraries there before ours", cure)
        else:
            yield Finding("note", f"{variable}={value} names another toolkit", cure)
    if list(Path("/dev").glob("davinci*")):
        cure = "to use them, work in an environment without AnyNPU"
        yield Finding("note", "this machine has real NPUs; AnyNPU does not use them", cure)


def check_toolkit_folders():
    home = os.environ.get("ASCEND_HOME_PATH")
    if home is None:
        return
    opp = os.environ.get("ASCEND_OPP_PATH", "")
    wanted = [Path(home, "runtime"), Path(home, "compiler"), Path(opp or "/ASCEND_OPP_PATH is not set")]
    for folder in wanted:
        if not folder.exists():
            cure = 'unset ASCEND_HOME_PATH, or use ours: eval "$(anynpu env)"'
            yield Finding("bad", f"ASCEND_HOME_PATH is set, so torch-npu will not start without {folder}", cure)


CHECKS = (check_rpath, check_order, check_toolkit, check_toolkit_folders)
