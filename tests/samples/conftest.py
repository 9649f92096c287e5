# SPDX-License-Identifier: Apache-2.0
"""Programs of this folder, compiled as clients compile theirs: our headers, the vendor's library names."""

import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "tests/pyacl")]
INCLUDE = [f"-I{ROOT / 'acl/include'}", f"-I{ROOT / 'build/generated/include'}"]
LIBRARIES = ["-lascendcl", "-lacl_op_compiler", "-lacl_cblas", "-lacl_tdt_channel", "-lacl_dvpp", "-lpthread"]
STRICT = ["-std=c++11", "-Wall", "-Wextra", "-Werror"]
KEPT = {"precision_mode": "must_keep_origin_dtype", "soc_version": "Ascend310P3"}


class Lab:
    """Compiles programs, converts models, and runs both in `folder`."""

    def __init__(self, programs, folder):
        self.programs, self.folder = programs, folder

    def program(self, name):
        return compiled(name, self.programs)

    def run(self, name, *arguments, code=0, **environment):
        command = [self.program(name), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, timeout=120,
                              env={**os.environ, **environment})  # fmt: skip
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout if code == 0 else done.stderr

    def atc(self, code=0, **flags):
        command = [ROOT / "build/bin/anynpu-atc", *(f"--{name}={value}" for name, value in (KEPT | flags).items())]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, timeout=120)
        assert (done.returncode != 0) == (code != 0), done.stdout + done.stderr
        return done.stdout + done.stderr

    def model(self, onnx, **flags):
        """The path of the model file that atc makes of the bytes of an ONNX model."""
        path = self.folder / f"model{len(list(self.folder.glob('*.om')))}"
        path.with_suffix(".onnx").write_bytes(onnx)
        self.atc(framework=5, model=path.with_suffix(".onnx"), output=path, **flags)
        return path.with_suffix(".om")

    def operators(self, *entries, code=0):
        """Files of single operators in the lab's folder; an entry is what the JSON of atc --singleop lists."""
        listed = self.folder / "operators.json"
        listed.write_text(json.dumps(entries))
        return self.atc(code, singleop=listed, output=self.folder)

    def file(self, name, array):
        path = self.folder / name
        path.write_bytes(array.tobytes())
        return path


@functools.cache
def compiled(name, folder):
    program = folder / name
    libraries = [f"-L{ROOT / 'build/lib'}", f"-Wl,-rpath,{ROOT / 'build/lib'}", *LIBRARIES]
    command = ["g++", *STRICT, *INCLUDE, HERE / f"{name}.cpp", "-o", program, *libraries]
    said = subprocess.run(command, capture_output=True, text=True)
    assert (said.returncode, said.stderr) == (0, "")
    return program


@pytest.fixture(scope="session")
def programs(tmp_path_factory):
    return shutil.which("g++") and tmp_path_factory.mktemp("programs")


@pytest.fixture
def lab(programs, tmp_path):
    return Lab(programs, tmp_path) if programs else pytest.skip("needs a C++ compiler")
