# SPDX-License-Identifier: Apache-2.0
"""AnyNPU and torch-npu come, change and go in any order; torch-npu finds our libraries whenever both are there."""

import os
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

try:
    INSTALLED = metadata.distribution("anynpu")
except metadata.PackageNotFoundError:
    pytest.skip("AnyNPU is not installed here; make test installs it", allow_module_level=True)
ROOT = Path(__file__).resolve().parents[2]
# What the vendor's module does as it is loaded: it needs a library by name, and asks it something.
MODULE = (
    "int aclrtGetDeviceCount(unsigned*); int devices(void) { unsigned n = 0; return aclrtGetDeviceCount(&n) ? -1 : n; }"
)
PACKAGE = """
import ctypes, pathlib
devices = ctypes.CDLL(str(next(pathlib.Path(__file__).parent.glob("_C*.so")))).devices()
"""
ASK = """
import torch_npu
print(torch_npu.devices > 0, [line.split()[-1] for line in open('/proc/self/maps') if 'libanynpu.so' in line][0])
"""


def pack(path, files, name, version):
    """A wheel of {name inside: bytes}."""
    info = f"{name}-{version}.dist-info"
    tag = "py3-none-" + path.stem.split("-")[-1]
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    files[f"{info}/RECORD"] = "".join(f"{file},,\n" for file in [*files, f"{info}/RECORD"]).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for file, data in files.items():
            archive.writestr(file, data)
    return path


def needed(file):
    """What an import of torch_npu uses of AnyNPU: its libraries, the hook and where it looks things up."""
    kept = (
        "torch_npu.libs/",
        "anynpu/lib64/",
        "anynpu/library/",
        "anynpu/__init__",
        "anynpu/preload",
        "anynpu-preload",
    )
    return str(file).startswith(kept) and "__pycache__" not in str(file)


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    files = {str(file): file.locate().read_bytes() for file in INSTALLED.files if needed(file)}
    return pack(tmp_path_factory.mktemp("ours") / "anynpu-0.1.0-py3-none-linux_x86_64.whl", files, "anynpu", "0.1.0")


@pytest.fixture(scope="module")
def vendors(tmp_path_factory):
    """{version: wheel}, with a module that looks for its libraries as the vendor's of that version does."""
    folder = tmp_path_factory.mktemp("vendors")
    (folder / "module.c").write_text(MODULE)

    def wheel(version, rpath):
        module = folder / f"module-{version}.so"
        link = [
            f"-L{ROOT}/build/lib",
            "-lascendcl",
            "-Wl,--allow-shlib-undefined,--disable-new-dtags",
            f"-Wl,-rpath,{rpath}",
        ]
        subprocess.run(["cc", "-shared", "-fPIC", folder / "module.c", "-o", module, *link], check=True)
        files = {"torch_npu/_C.so": module.read_bytes(), "torch_npu/__init__.py": PACKAGE.encode()}
        return pack(folder / f"torch_npu-{version}-py3-none-linux_x86_64.whl", files, "torch_npu", version)

    ours = "$ORIGIN/lib:$ORIGIN/../torch_npu.libs"
    return {"2.5.1": wheel("2.5.1", "$ORIGIN/lib"), "2.7.1": wheel("2.7.1", ours), "2.13.0": wheel("2.13.0", ours)}


class Environment:
    def __init__(self, folder):
        self.folder = folder
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        self.env = {
            k: v for k, v in os.environ.items() if not k.startswith(("ANYNPU", "ASCEND", "PYTHON", "VIRTUAL_ENV"))
        }
        (self.site,) = folder.glob("lib/python*/site-packages")

    def pip(self, *arguments):
        pip = [sys.executable, "-m", "pip", "--python", self.folder / "bin/python", "--disable-pip-version-check", "-q"]
        subprocess.run([*pip, *arguments], check=True, env=self.env)

    def install(self, wheel, *options):
        self.pip("install", "--no-index", "--no-deps", "--no-compile", *options, wheel)

    def ask(self, path=""):
        env = {**self.env, "PYTHONPATH": str(path)}
        return subprocess.run([self.folder / "bin/python", "-c", ASK], capture_output=True, text=True, env=env)

    def finds_us(self, path=""):
        done = self.ask(path)
        return done.stdout.split() == ["True", str(self.site / "anynpu/lib64/libanynpu.so")] or done.stderr


@pytest.fixture
def environment(tmp_path):
    return Environment(tmp_path / "environment")


@pytest.mark.promise("AnyNPU and torch-npu may be installed, upgraded and removed in any order")
def test_torch_npu_comes_changes_and_goes_after_us(environment, ours, vendors):
    environment.install(ours)
    for version in ("2.7.1", "2.13.0", "2.5.1"):
        environment.install(vendors[version])
        assert environment.finds_us() is True, version
    environment.pip("uninstall", "-y", "torch-npu")
    assert "No module named 'torch_npu'" in environment.ask().stderr
    environment.install(vendors["2.13.0"])
    assert environment.finds_us() is True


def test_we_come_and_go_after_torch_npu(environment, ours, vendors):
    environment.install(vendors["2.13.0"])
    assert "libascendcl.so: cannot open shared object file" in environment.ask().stderr
    environment.install(ours)
    assert environment.finds_us() is True
    environment.install(ours, "--force-reinstall")
    assert environment.finds_us() is True
    environment.pip("uninstall", "-y", "anynpu")
    assert "libascendcl.so: cannot open shared object file" in environment.ask().stderr
    assert sorted(path.name for path in environment.site.iterdir()) == ["torch_npu", "torch_npu-2.13.0.dist-info"]


def test_torch_npu_in_a_folder_of_its_own(environment, ours, vendors, tmp_path):
    environment.install(ours)
    for version in ("2.7.1", "2.13.0"):
        environment.install(vendors[version], "--target", tmp_path / "target", "--upgrade")
        assert environment.finds_us(tmp_path / "target") is True, version
