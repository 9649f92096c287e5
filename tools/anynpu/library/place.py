# SPDX-License-Identifier: Apache-2.0
"""Where the parts of this installation are: installed from the wheel, or a checkout with a build folder."""

import os
from importlib import machinery
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]  # the package
CORE = "libanynpu.so"


ROOT = HERE.parents[1]  # of a checkout


def home():
    """The toolkit folder, for ASCEND_HOME_PATH."""
    return HERE if (HERE / "runtime").exists() else ROOT / "build/toolkit"


def toolkit():
    """What a program that knows of toolkits reads from its environment. torch-npu wants both or neither."""
    return {"ASCEND_HOME_PATH": str(home()), "ASCEND_OPP_PATH": str(home() / "opp")}


def profiler():
    """The folder of msprof, which torch_npu looks for in PATH."""
    return home() / "tools/profiler/bin"


def python_packages():
    """The folder of the module acl for a Python in which AnyNPU is not installed."""
    return home() / "python/site-packages"


def headers():
    """The folders of the public headers: one, or in a checkout the written and the generated ones."""
    installed = HERE / "include"
    return [installed] if installed.exists() else [ROOT / "acl/include", ROOT / "build/generated/include"]


def libraries():
    """The folder of libanynpu.so and the vendor-named libraries."""
    named = os.environ.get("ANYNPU_LIBRARY")
    folders = [Path(named).parent] if named else [HERE / "lib64", ROOT / "build/lib"]
    for folder in folders:
        if (folder / CORE).exists():
            return folder
    raise FileNotFoundError(f"{CORE} is not in {' nor '.join(map(str, folders))}; install AnyNPU with: pip install .")


def migration():
    """The program behind anynpu migrate, convert_tf2npu and ms_fmk_transplt."""
    return program("anynpu-migrate")


def comparison():
    """The program behind msaccucmp."""
    return program("anynpu-compare")


def pages_of_profiles():
    """The program behind anynpu profile."""
    return program("anynpu-profile")


def conversion():
    """The program behind atc."""
    return program("anynpu-atc")


def program(name):
    places = [HERE / "bin" / name, ROOT / "build/bin" / name]
    for path in places:
        if path.exists():
            return path
    raise FileNotFoundError(f"{places[0]} is not there; install AnyNPU with: pip install .")


def is_ours(path):
    """True if the library at `path` leads to libanynpu.so; a file of a real CANN does not."""
    return path.exists() and CORE.encode() in path.read_bytes()


def vendor_libraries(folder):
    """The vendor-named libraries in `folder`: all of ours but the core and its engine."""
    return [path for path in sorted(folder.glob("lib*.so")) if "anynpu" not in path.name]


def package_folder(name):
    """The folder of an installed package, without importing it; None if it is not installed."""
    spec = machinery.PathFinder.find_spec(name)
    return Path(spec.origin).parent if spec and spec.origin else None


def rpath_folder():
    """The folder where the installed torch-npu looks for its libraries first; None without torch-npu, and for wheels
    that look nowhere near them (2.5 and 2.6)."""
    package = package_folder("torch_npu")
    if package is None or not any(b"torch_npu.libs" in path.read_bytes() for path in package.glob("_C*.so")):
        return None
    return package.parent / "torch_npu.libs"
