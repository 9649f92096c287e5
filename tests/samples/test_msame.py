# SPDX-License-Identifier: Apache-2.0
"""The command line of msame, in a program that goes its way."""

import json
import re

import model_file
import numpy as np
import pytest

RANDOM = np.random.default_rng(3)


def numbers(*sizes):
    return RANDOM.standard_normal(sizes).astype(np.float32)


def results(lab, form, wanted):
    """Both outputs, read from the files that the program wrote."""
    for i, right in enumerate(wanted):
        path = lab.folder / f"output_{i}.{form.lower()}"
        got = np.loadtxt(path, np.float32) if form == "TXT" else np.fromfile(path, np.float32)
        np.testing.assert_allclose(got.reshape(right.shape), right, rtol=1e-6)


@pytest.mark.promise("the flow of msame: .bin and .npy in, text and bytes out")
def test_files_of_both_kinds_and_both_forms(lab):
    model, x = lab.model(model_file.onnx([2, 3])), numbers(2, 3)
    np.save(lab.folder / "x.npy", x)
    for source in (lab.file("x.bin", x), lab.folder / "x.npy"):
        for form in ("TXT", "BIN"):
            out = lab.run("msame", "--model", model, "--input", source, "--output", lab.folder, "--outfmt", form,
                          "--loop", 3)  # fmt: skip
            assert out.startswith("3 runs, ")
            results(lab, form, model_file.expected(x))
            for path in lab.folder.glob("output_*"):
                path.unlink()
    lines = lab.run("msame", "--model", model, "--output", lab.folder, "--outfmt", "TXT") and (
        (lab.folder / "output_0.txt").read_text().splitlines()
    )
    assert lines == ["0 0 0", "0 0 0"], "inputs that are not given are zeros"


def test_debug_shows_the_model(lab):
    out = lab.run("msame", "--model", lab.model(model_file.onnx([2, 3])), "--debug", "true", "--device", 1)
    assert "1 inputs, 2 outputs" in out and "input 0: x, 24 bytes, data type 0" in out and "output 1: top" in out


@pytest.mark.parametrize(
    "flags, choice, sizes, onnx",
    [
        ({"input_shape": "x:-1,3", "dynamic_batch_size": "1,2,4"}, ["--dymBatch", "2"], (2, 3), ["n", 3]),
        (
            {"input_shape": "x:1,3,-1,-1", "dynamic_image_size": "4,6;8,8", "input_format": "NCHW"},
            ["--dymHW", "4,6"],
            (1, 3, 4, 6),
            [1, 3, "h", "w"],
        ),
        (
            {"input_shape": "x:-1,3,-1", "dynamic_dims": "1,2;2,4", "input_format": "ND"},
            ["--dymDims", "x:2,3,4"],
            (2, 3, 4),
            ["n", 3, "k"],
        ),
        ({"input_shape": "x:1~8,3"}, ["--dymShape", "x:5,3", "--outputSize", "60,20"], (5, 3), ["n", 3]),
    ],
    ids=["dymBatch", "dymHW", "dymDims", "dymShape"],
)
def test_sizes_of_the_run(lab, flags, choice, sizes, onnx):
    model, x = lab.model(model_file.onnx(onnx), **flags), numbers(*sizes)
    lab.run("msame", "--model", model, "--input", lab.file("x.bin", x), "--output", lab.folder, "--outfmt", "BIN",
            *choice)  # fmt: skip
    results(lab, "BIN", model_file.expected(x))


def test_a_gear_that_there_is_not_ends_the_program(lab):
    model = lab.model(model_file.onnx(["n", 3]), input_shape="x:-1,3", dynamic_batch_size="1,2,4")
    said = lab.run("msame", "--model", model, "--dymBatch", 3, code=1)
    assert "145013" in said and "1; 2; 4" in said


def test_dump_writes_what_operators_give(lab):
    model = lab.model(model_file.onnx([2, 3]))
    lab.run("msame", "--model", model, "--output", lab.folder, "--dump", "true")
    assert [path for path in (lab.folder / "dump").rglob("*") if path.is_file()], "no file was dumped"


def test_profiler_writes_its_folder(lab):
    model = lab.model(model_file.onnx([2, 3]))
    lab.run("msame", "--model", model, "--output", lab.folder, "--profiler", "true")
    assert json.loads((lab.folder / "acl.json").read_text())["profiler"]["switch"] == "on"
    assert [path for path in (lab.folder / "profiler").rglob("*") if path.is_file()], "no file was written"


@pytest.mark.parametrize(
    "arguments, text",
    [
        (["--model", "x.bin"], ".om"),
        (["--model", "x.om", "--loop", "101"], "1 to 100"),
        (["--model", "x.om", "--outfmt", "CSV"], "TXT or BIN"),
        (["--model", "x.om", "--dump", "true", "--profiler", "true"], "exclude"),
        (["--model", "x.om", "--dymBatch", "2", "--dymHW", "4,6"], "exclude"),
        (["--model", "x.om", "--speed", "9"], "flags are"),
        (["--model", "nowhere.om"], "145002 .*nowhere.om"),
    ],
)
def test_what_is_wrong_is_told(lab, arguments, text):
    said = lab.run("msame", *arguments, code=1)
    assert re.search(text, said), said
