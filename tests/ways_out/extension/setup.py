# SPDX-License-Identifier: Apache-2.0
"""As in the vendor's guide: NpuExtension knows torch and torch-npu, the script names the toolkit's folders, first."""

import os

from setuptools import setup
from torch.utils.cpp_extension import BuildExtension
from torch_npu.utils.cpp_extension import NpuExtension

TOOLKIT = os.environ["ASCEND_HOME_PATH"]
setup(
    name="scaled_add",
    ext_modules=[
        NpuExtension(
            "scaled_add",
            sources=["scaled_add.cpp"],
            include_dirs=[f"{TOOLKIT}/include"],
            library_dirs=[f"{TOOLKIT}/lib64"],
            runtime_library_dirs=[f"{TOOLKIT}/lib64"],  # or LD_LIBRARY_PATH, as `anynpu env` sets it
            libraries=["ascendcl", "opapi"],
            extra_compile_args=["-O0", "-H"],
        )
    ],
    cmdclass={"build_ext": BuildExtension.with_options(use_ninja=False)},
)
