# SPDX-License-Identifier: Apache-2.0
"""`make wheels`: which torch-npu wheels run on AnyNPU. Each is unpacked and looked at; some are installed and used.

    python tests/wheels/run.py [VERSION…] [--run VERSION…] [--write | --page]

Looked at: the C symbols it needs to load, the aclnn functions and the types of single operators that it asks for by
name, and where it looks for its libraries. Used: smoke.py, in an environment of its own with PyPI's torch of that
version (a CUDA build, several GB; removed afterwards). A version is one for this Python, or VERSION-cp313 for that of
Debian 13. --write renews docs/wheels.md; what was not looked at or used keeps its line.
"""

import argparse
import csv
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import operator_names
from environment import ROOT, Debian13, Here

FOLDER = ROOT / "build/wheels"
PAGE = ROOT / "docs/wheels.md"
KEPT = Path(__file__).with_name("seen.json")
VERSIONS = ["2.5.1", "2.6.0", "2.7.1", "2.8.0", "2.9.0", "2.10.0", "2.11.0", "2.12.0", "2.13.0", "2.14.0"]
VERSIONS += ["2.13.0-cp313"]
DEFAULT = "2.13.0"  # with which everything else is tested; it lies in .venv
# The first leaves weights that all others read, the last reads theirs.
USED = [DEFAULT, "2.5.1", "2.7.1", "2.10.0", "2.12.0", "2.13.0-cp313", DEFAULT]
VENDOR = re.compile(r"^(acl|Hccl|hccl|Msprof|_ZN\w*2ge\d)")


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def symbols(path, kind):
    lines = output("nm", "-D", f"--{kind}-only", path).splitlines()
    return {line.split()[-1].split("@")[0] for line in lines if kind == "defined" or line.split()[-2] == "U"}


def wheel(version):
    """The file of torch-npu, fetched once."""
    number, _, python = version.partition("-")
    python = python or f"cp3{sys.version_info[1]}"
    if not list(FOLDER.glob(f"torch_npu-{number}-{python}-*.whl")):
        other = [f"--python-version={python[2:]}", "--platform=manylinux_2_28_x86_64", "--only-binary=:all:"]
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", FOLDER, f"torch-npu=={number}"]
        subprocess.run(pip + other * ("-" in version), check=True)
    (found,) = FOLDER.glob(f"torch_npu-{number}-{python}-*.whl")
    return found


def unpack(version):
    folder = FOLDER / version
    if not folder.exists():
        with zipfile.ZipFile(wheel(version)) as archive:
            archive.extractall(folder, [name for name in archive.namelist() if ".so" in name])
    return folder


def own_symbols():
    return set().union(*(symbols(path, "defined") for path in (ROOT / "build/lib").glob("lib*.so")))


def own_types():
    with open(ROOT / "acl/singleop/operator_types.tsv") as file:
        return {row["type"] for row in csv.DictReader(file, delimiter="\t")}


def look(version, ours, types):
    """What `version` asks for, and what of it is missing."""
    parts = sorted((unpack(version) / "torch_npu").rglob("*.so"))
    parts = [path for path in parts if "torchair" not in path.parts and "op_plugin_atb" not in path.name]
    defined = set().union(*(symbols(path, "defined") for path in parts))
    needed = {name for path in parts for name in symbols(path, "undefined") if VENDOR.match(name)} - defined
    plugin = next(path for path in parts if path.name == "libtorch_npu.so")
    functions = {name.decode() for name in re.findall(rb"\0(aclnn[A-Z]\w+)(?=\0)", plugin.read_bytes())}
    functions = {name for name in functions if not name.endswith("GetWorkspaceSize")}
    asked, lost = operator_names.names(plugin)
    # Parts of names that are put together at run time are no types.
    asked = [name for name in asked if len(name) > 3]
    paths = re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", output("readelf", "-d", plugin))
    return {
        "symbols": len(needed),
        "missing": sorted(needed - ours),
        "functions": len(functions),
        "functions_missing": sorted(functions - ours),
        "types": len(asked),
        "types_missing": sorted(set(asked) - types),
        "unnamed_calls": lost,
        "finds": "its RPATH" if "torch_npu.libs" in "".join(paths) else "the start-up hook",
    }


def install(version, python):
    """AnyNPU's wheel is one for every Python: its tag must fit."""
    pip = ["-m", "pip", "install", "-q", "--no-cache-dir", "--no-compile"]
    others = ["numpy<2; python_version < '3.13'", "numpy; python_version >= '3.13'", "pyyaml", "setuptools"]
    (ours,) = (ROOT / "dist").glob("anynpu-*-py3-none-manylinux*.whl")
    python(*pip, f"torch=={version.partition('-')[0]}", *others, check=True)
    python(*pip, "--no-deps", ours, wheel(version), check=True)


def smoke(python):
    """The parts that smoke.py prints."""
    (FOLDER / "weights").mkdir(exist_ok=True)
    done = python(Path(__file__).with_name("smoke.py"), FOLDER / "weights", capture_output=True, text=True)
    print(done.stdout, done.stderr[-3000:] if done.returncode else "", sep="\n", flush=True)
    return re.findall(r"^(\w+: \d+ of \d+)$", done.stdout, re.M) or ["ends at import"]


def use(version):
    """What a script meets where this wheel, PyPI's torch of its version and AnyNPU's wheel are installed."""
    if version == DEFAULT:
        return smoke(lambda *arguments, **options: subprocess.run([sys.executable, *arguments], **options))
    kind = Debian13 if version.endswith("-cp313") else Here
    with kind(FOLDER / f"environment-{version}") as environment:
        install(version, environment.python)
        return smoke(environment.python)


def page(seen, ours, types):
    """What was missing when a wheel was looked at may be built since."""

    def share(count, missing, known):
        return f"{count - len(set(missing) - known)} of {count}"

    columns = [
        ("symbols", "missing", ours),
        ("functions", "functions_missing", ours),
        ("types", "types_missing", types),
    ]
    lines = [
        "# Which torch-npu wheels run",
        "",
        "Generated by `make wheels`. *Looked at*: the wheel was unpacked; the symbols it needs to load, and the",
        "functions and types of single operators that it asks for by name (most of them only when a script calls",
        "them), are compared with ours. *Used*: installed with PyPI's torch of its version, a CUDA build, and AnyNPU's",
        "wheel: 60 calls with their gradients, training in float32, bfloat16 and float16, two ranks, and weights that",
        "the versions used before have written; AnyNPU's is one wheel for every Python. 2.7.1 and 2.8.0 write tensors",
        "with their formats: newer load them after `torch.serialization.add_safe_globals([torch_npu.Format])`; 2.9.0",
        "and 2.10.0 want `torch_npu.utils.storage._rebuild_npu_tensor` in that list, too.",
        f"{DEFAULT} with PyPI's CPU build is what all else is tested with. `cp313`: on CPython 3.13 of Debian 13,",
        "all others on 3.11.",
        "",
        "| torch-npu | symbols | aclnn functions | single operators | finds our libraries by | used |",
        "|---|---|---|---|---|---|",
    ]
    for version in VERSIONS:
        if one := seen.get(version):
            cells = [version]
            cells += [share(one[kind], one[lacks], known) for kind, lacks, known in columns]
            used = ["every test"] * (version == DEFAULT) + one["used"]
            cells += [one["finds"], "; ".join(used) or "looked at"]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("versions", nargs="*", default=VERSIONS)
    parser.add_argument("--run", nargs="*", default=USED)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--page", action="store_true", help="only write the page again")
    options = parser.parse_args()
    seen = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    ours, types = own_symbols(), own_types()
    if options.page:
        PAGE.write_text(page(seen, ours, types))
        return 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for version in options.versions:
        used = seen.get(version, {}).get("used", [])
        seen[version] = {**look(version, ours, types), "used": used}
        print(version, {k: len(v) if isinstance(v, list) else v for k, v in seen[version].items()}, flush=True)
    for version in options.run:
        seen[version]["used"] = use(version)
    if options.write:
        KEPT.write_text(json.dumps(seen, indent=1) + "\n")
        PAGE.write_text(page(seen, ours, types))
    return 1 if any(one["missing"] for one in seen.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
