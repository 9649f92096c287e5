# SPDX-License-Identifier: Apache-2.0
"""A torch with CUDA's libraries and a torch-npu that enters names, as packages of a few bytes."""

import ctypes

import pytest

from anynpu.library import cuda_build
from anynpu.preload_test import python

ENTERS = "_ZN3c1016CachingAllocator26AcceleratorAllocatorConfig14getMutableKeysB5cxx11Ev"
# Whoever looks for torch's function from now on finds ours.
FOUND = f"import ctypes; print(hasattr(ctypes.CDLL(None), '{ENTERS}'))"


def stand_ins(folder, cuda=ENTERS, npu=ENTERS):
    for package, file, text in (("torch", "libc10_cuda.so", cuda), ("torch_npu", "libtorch_npu.so", npu)):
        (folder / package / "lib").mkdir(parents=True)
        (folder / package / "__init__.py").touch()
        if text is not None:
            (folder / package / "lib" / file).write_text(f"ELF {text}")
    (folder / "torch_npu/__init__.py").write_text(f"{FOUND}\nimport torch_npu._C")
    (folder / "torch_npu/_C.py").write_text(FOUND)
    return folder


def test_torch_npu_enters_names_into_a_set_of_its_own(tmp_path):
    """When its library is opened, and not before: torch's own libraries keep torch's set."""
    assert python("import anynpu.preload, torch_npu", stand_ins(tmp_path)).split() == ["False", "True"]


@pytest.mark.parametrize("without", ["cuda", "npu"])
@pytest.mark.parametrize("text", [None, "nothing"])
def test_torch_is_left_alone_where_only_one_enters_names(tmp_path, without, text):
    folder = stand_ins(tmp_path, **{without: text})
    assert python("import anynpu.preload, torch_npu", folder).split() == ["False", "False"]


def test_without_torch_there_is_nothing_to_do(monkeypatch):
    monkeypatch.setattr(cuda_build.place, "package_folder", lambda _: None)
    assert not cuda_build.collides()


def test_both_sides_see_a_set_that_stays():

    enters = ctypes.CDLL(str(cuda_build.place.libraries() / "libanynpu_torch.so"))[ENTERS]
    enters.restype = ctypes.c_void_p
    assert enters() and enters() == enters()
