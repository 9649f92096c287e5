# SPDX-License-Identifier: Apache-2.0
"""Checks of `anynpu doctor` on Python packages: that the frameworks have the versions that AnyNPU is made for, and that
what stands beside them loads."""

import platform
import shlex
import sys

from anynpu.doctor.finding import Finding
from anynpu.library import place, version

CPU_INDEX = "https://download.pytorch.org/whl/cpu"
WHEELS = (2, 5), (2, 14)  # of torch-npu: the oldest and newest that docs/wheels.md tells of


def install(package, pinned):
    """The command for one package; torch without the gigabytes of CUDA libraries, which AnyNPU does not use."""
    index = f" --index-url {CPU_INDEX}" if package in ("torch", "torchvision", "torchaudio") else ""
    return f"pip install {package}=={pinned}{index}"


def compared(package, pinned, extra):
    found = version.installed(package)
    if found is None:
        return Finding(
            "note", f"{package} is not installed", f"pip install 'anynpu[{extra}]' (C programs do not need it)"
        )
    if pinned and found != pinned:
        return Finding("bad", f"{package} is {found}; AnyNPU is tested with {pinned}", install(package, pinned))
    return Finding("ok", f"{package} {found}")


def release(found):
    """(2, 7, 1) of 2.7.1.post2."""
    return tuple(int(part) for part in found.split(".")[:3] if part.isdigit())


def compared_with_wheels(package, pinned):
    """torch and torch-npu may have any version that was looked at; all is tested with the pinned one."""
    found = version.installed(package)
    if found and found != pinned and WHEELS[0] <= release(found)[:2] <= WHEELS[1]:
        return Finding("note", f"{package} is {found}; docs/wheels.md tells how it does, all is tested with {pinned}")
    return compared(package, pinned, "torch")


def check_pair():
    torch, plugin = version.installed("torch"), version.installed("torch-npu")
    if torch and plugin and release(torch) != release(plugin):
        cure = install("torch", ".".join(map(str, release(plugin))))
        yield Finding(
            "bad", f"torch is {torch} and torch-npu {plugin}, which loads beside torch of its version only", cure
        )


def check_torch():
    yield Finding("ok", f"Python {platform.python_version()}, {platform.platform()}")
    for package, pinned in (version.pins("torch") or {"torch": None, "torch-npu": None}).items():
        yield compared_with_wheels(package, pinned)
    yield from check_pair()
    numpy = version.installed("numpy")
    if numpy and int(numpy.split(".")[0]) >= 2 and sys.version_info < (3, 13):  # for which there is no numpy 1
        yield Finding("bad", f"numpy is {numpy}; torch-npu was built for numpy 1", "pip install 'numpy<2'")


def check_tensorflow():
    """The build for the CPU or the usual one, whichever is there."""
    pinned = version.pins("tensorflow").get("tensorflow-cpu")
    there = [package for package in ("tensorflow", "tensorflow-cpu") if version.installed(package)]
    yield compared(there[0] if there else "tensorflow-cpu", pinned, "tensorflow")


def asks_for_cuda(folder):
    """A library in `folder` that wants torch's CUDA libraries; None if no one does."""
    wanting = (file for file in sorted(folder.rglob("*.so")) if b"libtorch_cuda.so" in file.read_bytes())
    return next(wanting, None)


def check_torch_companions():
    """PyPI has torchvision and torchaudio for CUDA only, which do not load beside a torch for the CPU."""
    torch = place.package_folder("torch")
    if torch is None or (torch / "lib/libtorch_cuda.so").exists():
        return
    for package in ("torchvision", "torchaudio"):
        folder = place.package_folder(package)
        if folder and (library := asks_for_cuda(folder)):
            text = (
                f"{package} {version.installed(package)} is built for CUDA and does not load beside the torch for CPUs "
            )
            yield Finding("bad", text + f"({library.name})", install(package, version.installed(package)))


def check_export():
    missing = [package for package in ("onnx", "onnxscript") if version.installed(package) is None]
    if version.installed("torch") and missing:
        cure = "pip install 'anynpu[export]' (in an environment without TensorFlow, which wants other versions)"
        yield Finding("note", f"torch.onnx.export needs {' and '.join(missing)}, not installed", cure)


def check_compile():
    """torch.compile's usual backend makes no kernels for the NPU; the vendor's plug-in brings others."""
    if version.installed("torch-npu") and version.installed("triton-ascend") is None:
        text = (
            "torch.compile runs eagerly on the NPU: its usual backend, inductor, makes kernels by triton-ascend, for "
        )
        cure = "nothing to do: results are the same; torch.compile(model, backend='npugraph_ex') captures a graph"
        yield Finding("note", text + "real NPUs only", cure)


def check_apex():
    """`import apex` is AnyNPU's own package, unless another of that name is installed: pip puts both into one folder,
    and removes the files of both with the other one."""
    source = shlex.quote(version.origin()) if version.origin() else "FOLDER_OR_WHEEL (that AnyNPU came from)"
    again = f"pip install --force-reinstall --no-deps {source}"
    cure = f"pip uninstall -y apex && {again}"
    if (foreign := version.installed("apex")) is not None:
        text = f"another package apex {foreign} is installed, over or below the files of AnyNPU's apex for the NPU"
        yield Finding("bad", text, cure)
    elif (folder := place.package_folder("apex")) and not (folder / "unbuilt.py").exists():
        hides = f"import apex finds {folder}, which hides AnyNPU's apex for the NPU"
        yield Finding("bad", hides, f"remove it; if it lies where AnyNPU's own was, then {again}")


CHECKS = (check_torch, check_tensorflow, check_torch_companions, check_export, check_compile, check_apex)
