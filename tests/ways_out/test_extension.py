# SPDX-License-Identifier: Apache-2.0
"""C++ extensions: one with NpuExtension that calls aclnn itself, one that torch compiles while the script runs."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
import torch

HERE = pathlib.Path(__file__).parent
SITE = pathlib.Path(torch.__file__).parents[1]
TOOLKIT = SITE / "anynpu"

pytestmark = pytest.mark.skipif(
    not shutil.which("g++") or not (TOOLKIT / "include").is_dir(), reason="needs a compiler and the installed package"
)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Where the extension lies, and the headers that the compiler read."""
    folder = tmp_path_factory.mktemp("extension")
    for source in (HERE / "extension").iterdir():
        shutil.copy(source, folder)
    environment = os.environ | {"ASCEND_HOME_PATH": str(TOOLKIT)}
    command = [sys.executable, "setup.py", "build_ext", "--inplace"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-5000:]
    (library,) = folder.glob("scaled_add*.so")
    torch.ops.load_library(library)
    return re.findall(r"^\.+ (\S+)$", done.stderr, flags=re.M)


@pytest.mark.promise("C++ extensions by NpuExtension that call aclnn functions compile with our headers, and train")
@pytest.mark.parametrize("shapes", [((4, 5), (4, 5)), ((3, 1, 6), (2, 6)), ((0, 3), (3,))])
def test_an_aclnn_function_behind_an_operator_of_torch(built, shapes):
    x, y = (torch.randn(shape, requires_grad=shape == shapes[0]) for shape in shapes)
    expected = x + 2.5 * y
    got = torch.ops.ways_out.scaled_add(x.npu(), y.npu(), 2.5)
    assert got.device.type == "npu"
    torch.testing.assert_close(got.cpu(), expected)


def test_gradients_pass_through_it(built):
    weights = [torch.randn(5, 4) for _ in range(2)]
    gradients = []
    for device, add in (("cpu", lambda x, y, alpha: x + alpha * y), ("npu", torch.ops.ways_out.scaled_add)):
        x, y = (weight.to(device, copy=True).requires_grad_() for weight in weights)
        add(x.t(), y.t().tanh(), -0.75).square().sum().backward()  # strided inputs
        gradients.append([x.grad.cpu(), y.grad.cpu()])
    for expected, got in zip(*gradients, strict=True):
        torch.testing.assert_close(got, expected)


def test_it_keeps_its_place_on_a_stream(built):
    x = torch.zeros(1000).npu()
    with torch.npu.stream(torch.npu.Stream()):
        for _ in range(50):
            x.add_(1)
            x = torch.ops.ways_out.scaled_add(x, x, 1.0).sub_(x)
    torch.npu.synchronize()
    assert x.cpu().eq(50).all()


def test_an_error_of_ours_reaches_the_script(built):
    with pytest.raises(RuntimeError, match=r"aclCreateTensor|aclnnAdd"):
        torch.ops.ways_out.scaled_add(torch.ones(3).npu().half(), torch.ones(3).npu().half(), 1.0)


def test_our_headers_come_before_the_wheels(built):
    """Of the folders acl, aclnn and aclnnop only ours are read, though the wheel has an acl of its own."""
    read = {str(path) for path in built if re.search(r"include/(acl|aclnn|aclnnop)/", path)}
    assert f"{TOOLKIT}/include/acl/acl_rt.h" in read
    assert {path for path in read if not path.startswith(str(TOOLKIT))} == set()


@pytest.mark.skipif(not shutil.which("ninja"), reason="torch compiles while the script runs with ninja")
def test_torch_compiles_a_source_while_the_script_runs(tmp_path, monkeypatch):
    from torch.utils import cpp_extension

    source = tmp_path / "leaky.cpp"
    source.write_text(
        "#include <ATen/ATen.h>\n#include <torch/library.h>\n"
        "at::Tensor leaky(const at::Tensor& x, double slope) { return at::where(x > 0, x, x * slope); }\n"
        "TORCH_LIBRARY(ways_out_leaky, library) { library.def(\"leaky\", leaky); }\n"
    )  # fmt: skip
    monkeypatch.setenv("MAX_JOBS", "1")
    cpp_extension.load(
        "leaky", [str(source)], extra_cflags=["-O0"], build_directory=str(tmp_path), is_python_module=False
    )
    x = torch.linspace(-2, 2, 9)
    for device in ("cpu", "npu"):
        here = x.to(device, copy=True).requires_grad_()
        out = torch.ops.ways_out_leaky.leaky(here, 0.25)
        out.sum().backward()
        torch.testing.assert_close(out.cpu(), torch.nn.functional.leaky_relu(x, 0.25))
        torch.testing.assert_close(here.grad.cpu(), torch.where(x > 0, 1.0, 0.25))
