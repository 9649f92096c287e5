# SPDX-License-Identifier: Apache-2.0
"""InferSession and `anynpu infer`, on models that the library converts."""

import json
import re

import lookup
import model_file
import numpy as np
import pytest


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """made(sizes, **flags): the path of a model; skips where this library converts none."""
    folder = tmp_path_factory.mktemp("models")

    def make(sizes, **flags):
        if lookup.function("mdl.load_from_file") is None:
            pytest.skip("aclmdlLoadFromFile is not in this library")
        path = model_file.written(folder / f"model{len(list(folder.iterdir()))}.om", sizes, **flags)
        return path or pytest.skip("anynpu_model_convert takes no ONNX in this library")

    return make


def session(path):
    from anynpu.infer import InferSession

    return InferSession(0, str(path))


def check(results, x):
    for result, right in zip(results, model_file.expected(x), strict=True):
        np.testing.assert_allclose(result, right, rtol=1e-6)


def numbers(*shape):
    return np.random.default_rng(11).standard_normal(shape, dtype=np.float32)


def test_a_model_of_one_size(made):
    with session(made([2, 3])) as one:
        port = one.get_inputs()[0]
        assert (port.name, port.shape, port.datatype, port.size) == ("x", (2, 3), "float32", 24)
        assert [port.shape for port in one.get_outputs()] == [(2, 3), (2, 1)]
        for _ in range(3):
            x = numbers(2, 3)
            check(one.infer([x]), x)
        times = one.summary()
        assert len(times.exec_time_list) == len(times.h2d_time_list) == 3 and min(times.exec_time_list) > 0
        check(one.infer([np.asfortranarray(x)]), x)


def test_gears_of_batches(made):
    with session(made(["n", 3], input_shape="x:-1,3", dynamic_batch_size="1,2,4")) as gears:
        assert [port.name for port in gears.get_inputs()] == ["x"]
        for batch in (4, 1, 2):
            x = numbers(batch, 3)
            check(gears.infer([x], mode="dymbatch"), x)
        with pytest.raises(RuntimeError, match="145013"):
            gears.infer([numbers(3, 3)], mode="dymbatch")


def test_gears_of_pictures(made):
    path = made([1, 3, "h", "w"], input_shape="x:1,3,-1,-1", input_format="NCHW", dynamic_image_size="4,6;8,8")
    with session(path) as gears:
        for height, width in ((8, 8), (4, 6)):
            x = numbers(1, 3, height, width)
            check(gears.infer([x], mode="dymhw"), x)


def test_gears_of_sizes(made):
    path = made(["n", 3, "w"], input_shape="x:-1,3,-1", input_format="ND", dynamic_dims="1,4;2,8")
    with session(path) as gears:
        for batch, width in ((2, 8), (1, 4)):
            x = numbers(batch, 3, width)
            check(gears.infer([x], mode="dymdims"), x)


def test_a_range_of_shapes(made):
    with session(made(["n", 3], input_shape="x:1~8,3")) as ranged:
        for batch in (1, 5, 8):
            x = numbers(batch, 3)
            check(ranged.infer([x], mode="dymshape"), x)


@pytest.mark.parametrize(
    "feeds, mode, text",
    [
        ([], "static", "0 arrays are fed, the model takes 1: x"),
        ([np.zeros((2, 3))], "static", "x is of float64; the model takes float32: use astype"),
        ([np.zeros((2, 4), np.float32)], "static", r"x has shape \(2, 4\); the model takes \(2, 3\)"),
        ([np.zeros((2, 3), np.float32)], "dymbatch", "made for one size"),
        ([np.zeros((2, 3), np.float32)], "batch", "mode is 'batch'; it is one of static"),
    ],
)
def test_what_does_not_fit_is_told(made, feeds, mode, text):
    with session(made([2, 3])) as one, pytest.raises(ValueError, match=text):
        one.infer(feeds, mode=mode)


def test_the_example_of_a_model(made, script, tmp_path):
    np.save(tmp_path / "x.npy", np.array([[1, 2, 3], [4, 5, 6]], np.float32))
    done = script(lookup.ROOT / "examples/acl/model.py", str(made([2, 3])), str(tmp_path / "x.npy"))
    assert done.returncode == 0 and re.search(r"out\S*: \[2, 3\], largest 24 at 5$", done.stdout, re.M), done.stderr


def command(script, *arguments):
    return script("import sys; from anynpu.command import main; sys.exit(main())", "infer", *map(str, arguments))


def test_the_command(made, script, tmp_path):
    x = numbers(2, 3)
    np.save(tmp_path / "x.npy", x)
    done = command(
        script, made([2, 3]), "--input", tmp_path / "x.npy", "--loop", 7, "--warmup", 2, "--output", tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"^ms +min +mean +median +p90 +p99 +max$", done.stdout, re.M)
    assert re.search(r"^run +[\d.]+", done.stdout, re.M) and "7 runs, " in done.stdout
    outputs = sorted(tmp_path.glob("*_out*.npy"))
    np.testing.assert_allclose(np.load(outputs[0]), model_file.expected(x)[0], rtol=1e-6)
    assert json.loads((tmp_path / "summary.json").read_text())["runs"] == 7


def test_the_command_with_gears(made, script):
    path = made(["n", 3], input_shape="x:-1,3", dynamic_batch_size="1,2,4")
    assert command(script, path, "--dymBatch", 4).returncode == 0
    wrong = command(script, path, "--dymBatch", 3)
    assert wrong.returncode == 1 and "145013" in wrong.stderr and "Traceback" not in wrong.stderr


def test_the_command_on_a_file_that_is_no_model(script, tmp_path):
    if lookup.function("mdl.load_from_file") is None:
        pytest.skip("aclmdlLoadFromFile is not in this library")
    (tmp_path / "x.om").write_bytes(b"no model")
    done = command(script, tmp_path / "x.om")
    assert done.returncode == 1 and done.stderr.startswith("anynpu infer: acl.mdl.load_from_file gave ")
