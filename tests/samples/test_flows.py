# SPDX-License-Identifier: Apache-2.0
"""What the vendor's samples do, for each C++ project of Ascend/samples that needs no codec and no library of its own:
flows.tsv names them and the program of this folder that goes the same way, written anew."""

import csv
import pathlib
import re

import model_file
import network
import numpy as np
import pytest

HERE = pathlib.Path(__file__).resolve().parent
with open(HERE / "flows.tsv", encoding="utf-8") as table:
    SAMPLES = list(csv.DictReader(table, delimiter="\t"))
FLOWS = {}  # folder of a sample -> the function that goes its way
RANDOM = np.random.default_rng(21)


def sample(*ends):
    """Declares a function to go the way of the samples whose folders end so."""

    def declare(function):
        for end in ends:
            (folder,) = (one["folder"] for one in SAMPLES if one["folder"].endswith(end))
            assert FLOWS.setdefault(folder, function) is function, folder
        return function

    return declare


@pytest.mark.promise("what the C++ samples do that need no codec: models, gears, callbacks, single operators, blas")
@pytest.mark.parametrize("one", SAMPLES, ids=lambda one: "/".join(one["folder"].split("/")[-3:]))
def test_a_sample(lab, one):
    FLOWS[one["folder"]](lab)


def test_every_sample_has_its_flow():
    assert set(FLOWS) == {one["folder"] for one in SAMPLES} and len(SAMPLES) == 27
    assert all((HERE / f"{one['flow']}.cpp").exists() for one in SAMPLES if one["flow"] != "refused")


def pictures(lab, count, *sizes):
    arrays = [RANDOM.standard_normal((1, 3, *sizes)).astype(np.float32) for _ in range(count)]
    return np.concatenate(arrays), [lab.file(f"picture{i}.bin", array) for i, array in enumerate(arrays)]


def close(path, wanted, tolerance=1e-5):
    got = np.fromfile(path, np.float32).reshape(wanted.shape)
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance * np.abs(wanted).max())


# --- the runtime ------------------------------------------------------------------------------------------------------


@sample("ACLHelloWorld")
def hello(lab):
    out = lab.run("hello")
    assert "aclInit(nullptr): 100002" in out and "hello from Ascend" in out


@sample("memcpy_host_device_cpp")
def copies_that_wait(lab):
    assert "sync: the same bytes" in lab.run("copies", "sync", 20)


@sample("memcpy_host_device_async_cpp")
def queued_copies(lab):
    assert "async: the same bytes" in lab.run("copies", "async", 20)


@sample("06_async_memcpy_01_host2device")
def queued_copies_of_pinned_memory(lab):
    assert "pinned: the same bytes" in lab.run("copies", "pinned", 20)


# --- models -----------------------------------------------------------------------------------------------------------


def best(scores):
    return [f"picture {i}: " + " ".join(map(str, np.argsort(-row)[:3])) for i, row in enumerate(scores)]


def classified(lab, way, batch, count):
    model = lab.model(network.onnx(batch, 8, 8, "scores"))
    x, files = pictures(lab, count, 8, 8)
    config = lab.folder / "acl.json"
    config.write_text("{}")
    out = lab.run("classify", way, model, config, "scores.bin", *files)
    wanted = network.scores(x)
    close(lab.folder / "scores.bin", wanted)
    assert out.split("\n")[:-1] == best(wanted)


@sample("resnet50_firstapp")
def a_model_of_a_file(lab):
    classified(lab, "file", 1, 1)
    classified(lab, "memory", 1, 2)


@sample("resnet50_imagenet_classification")
def a_model_in_memory_of_the_program(lab):
    classified(lab, "own", 1, 4)


@sample("googlenet_imagenet_multi_batch")
def two_pictures_in_a_run(lab):
    classified(lab, "own", 2, 4)


@sample("resnet50_async_imagenet_classification")
def queued_runs_with_callbacks(lab):
    model = lab.model(network.onnx(1, 8, 8, "scores"))
    x, files = pictures(lab, 10, 8, 8)
    assert lab.run("classify_async", model, "scores.bin", 4, *files) == "3 callbacks\n"
    close(lab.folder / "scores.bin", network.scores(x))


@sample("googlenet_imagenet_dynamic_batch")
def gears_of_batches(lab):
    flags = {"input_shape": "x:-1,3,8,8", "dynamic_batch_size": "1,2,4"}
    model = lab.model(network.onnx("n", 8, 8, "scores"), **flags)
    xs = {n: RANDOM.standard_normal((n, 3, 8, 8)).astype(np.float32) for n in (2, 4, 1)}
    runs = [f"{n}={lab.file(f'{n}.bin', x)}" for n, x in xs.items()]
    out = lab.run("gears", "batch", model, "out", *runs, "3")
    assert out.startswith("gear 1\ngear 2\ngear 4\n") and "145013" in out and "1; 2; 4" in out
    for i, x in enumerate(xs.values()):
        close(lab.folder / f"out{i}", network.scores(x))


@sample("YOLOV3_dynamic_batch_detection_picture")
def gears_of_picture_sizes(lab):
    flags = {"input_shape": "x:1,3,-1,-1", "dynamic_image_size": "6,4;8,8", "input_format": "NCHW"}
    model = lab.model(network.onnx(1, "h", "w", "map"), **flags)
    xs = [RANDOM.standard_normal((1, 3, *size)).astype(np.float32) for size in ((8, 8), (6, 4), (8, 8))]
    runs = [f"{x.shape[2]},{x.shape[3]}={lab.file(f'{i}.bin', x)}" for i, x in enumerate(xs)]
    out = lab.run("gears", "image", model, "out", *runs, "7,7")
    assert out.startswith("gear 6,4\ngear 8,8\n") and "145013" in out
    for i, x in enumerate(xs):
        close(lab.folder / f"out{i}", network.feature_map(x))


def test_gears_of_all_sizes(lab):
    flags = {"input_shape": "x:-1,3,-1", "input_format": "ND", "dynamic_dims": "1,2;2,4"}
    model = lab.model(model_file.onnx(["n", 3, "k"]), **flags)
    xs = [RANDOM.standard_normal(sizes).astype(np.float32) for sizes in ((2, 3, 4), (1, 3, 2))]
    runs = [f"{','.join(map(str, x.shape))}={lab.file(f'{i}.bin', x)}" for i, x in enumerate(xs)]
    out = lab.run("gears", "dims", model, "out", *runs, "7,3,2")
    assert out.startswith("2 gears\n") and "145013" in out
    for i, x in enumerate(xs):
        close(lab.folder / f"out{i}", model_file.expected(x)[0])


@pytest.mark.promise("AIPP in front of a model, with fixed parameters and with those of a run")
@pytest.mark.parametrize("mode", ["static", "dynamic"])
def test_pictures_of_bytes(lab, mode):
    conf = lab.folder / "aipp.cfg"
    fixed = """aipp_mode: static input_format: RGB888_U8 src_image_size_w: 6 src_image_size_h: 4 rbuv_swap_switch: true
        mean_chn_0: 10 mean_chn_1: 20 mean_chn_2: 30 var_reci_chn_0: 0.5 var_reci_chn_1: 0.25 var_reci_chn_2: 0.125"""
    conf.write_text(f"aipp_op {{ {fixed if mode == 'static' else 'aipp_mode: dynamic max_src_image_size: 72'} }}")
    model = lab.model(network.onnx(1, 4, 6, "map"), input_format="NCHW", insert_op_conf=conf)
    picture = RANDOM.integers(0, 256, (4, 6, 3), dtype=np.uint8)
    lab.run("pictures", mode, model, "out", lab.file("picture.bin", picture), 6, 4)
    seen = (picture[..., ::-1].astype(np.float32) - [10, 20, 30]) * [0.5, 0.25, 0.125]
    close(lab.folder / "out", network.feature_map(seen.transpose(2, 0, 1)[None]), 1e-3)


def test_contexts_devices_and_streams(lab):
    model = lab.model(network.onnx(1, 8, 8, "scores"))
    x, (file,) = pictures(lab, 1, 8, 8)
    lab.run("contexts", model, "out", file, ANYNPU_DEVICES="2")
    close(lab.folder / "out", network.scores(x))


def test_tensors_through_a_channel(lab):
    assert lab.run("channel", 50) == "50 tensors\n"


# --- single operators -------------------------------------------------------------------------------------------------

WORDS = {"float32": "float", "float16": "float16", "int32": "int32", "int64": "int64"}
KINDS = {bool: "bool", int: "int", list: "list_int"}


def listed(type_, inputs, output, attributes, open_sizes=False):
    """The entry of atc --singleop for such a call."""
    side = [
        {"format": "ND", "type": WORDS[a.dtype.name], "shape": [-1] * a.ndim if open_sizes else list(a.shape)}
        for a in (*inputs, output)
    ]
    attr = [{"name": name, "type": KINDS[type(v)], "value": v} for name, v in attributes.items()]
    return {"op": type_, "input_desc": side[:-1], "output_desc": side[-1:], "attr": attr}


def spelled(value):
    return ",".join(map(str, value)) if isinstance(value, list) else str(value).lower()


def command(lab, way, type_, inputs, output, attributes):
    for i, array in enumerate(inputs):
        lab.file(f"input_{i}.bin", array)
    sides = [[f"{WORDS[a.dtype.name]}={spelled(list(a.shape))}" for a in side] for side in (inputs, [output])]
    spec = [f"{name}={spelled(value)}" for name, value in attributes.items()]
    return ["operator", way, type_, lab.folder, *sides[0], "/", *sides[1], "/", *spec]


def operator(lab, way, type_, inputs, wanted, tolerance=0.0, open_sizes=False, **attributes):
    if way == "folder":
        lab.operators(listed(type_, inputs, wanted, attributes, open_sizes))
    lab.run(*command(lab, way, type_, inputs, wanted, attributes))
    got = np.fromfile(lab.folder / "output_0.bin", wanted.dtype).reshape(wanted.shape)
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance * np.abs(wanted).max())


def refused(lab, type_, inputs, wanted, **attributes):
    """An operator of a sample's own: atc and the call say its name."""
    said = lab.operators(listed(type_, inputs, wanted, attributes), code=1)
    assert re.search(rf"E10501.*{type_}", said), said
    for way in ("compile", "once", "handle"):
        said = lab.run(*command(lab, way, type_, inputs, wanted, attributes), code=1)
        assert re.search(rf"100024 .*{type_} is not known", said), said


def integers(*sizes, low=0, high=9, dtype=np.int32):
    return RANDOM.integers(low, high, sizes).astype(dtype)


@sample("2_verify_op/acl_compile_add")
def add_after_compiling(lab):
    a, b = integers(8, 16), integers(8, 16)
    operator(lab, "compile", "Add", [a, b], a + b)
    operator(lab, "handle", "Add", [a, b], a + b)


@sample("2_verify_op/acl_execute_add")
def add_of_a_file(lab):
    a, b = integers(8, 16), integers(8, 16)
    operator(lab, "folder", "Add", [a, b], a + b)


@sample("acl_execute_pow")
def power(lab):
    a, b = integers(2, 2, high=5), integers(2, 2, high=5)
    operator(lab, "folder", "Pow", [a, b], a**b)


@sample("acl_execute_softmax")
def softmax(lab):
    x = RANDOM.standard_normal((8, 16)).astype(np.float32)
    powers = np.exp(x.astype(np.float64))
    operator(lab, "folder", "SoftmaxV2", [x], (powers / powers.sum(1, keepdims=True)).astype(np.float32), 1e-6)


@sample("acl_execute_matmul")
def product(lab):
    a, b = integers(16, 64, dtype=np.float16), integers(64, 32, dtype=np.float16)
    wanted = (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16)
    operator(lab, "folder", "MatMul", [a, b], wanted, 1e-3, transpose_x1=False, transpose_x2=False)
    refused(lab, "MatmulTik", [a, b], wanted)


@sample("acl_execute_reshape")
def reshape(lab):
    x, sizes = np.arange(9, dtype=np.int32), np.array([3, 3], dtype=np.int32)
    operator(lab, "folder", "Reshape", [x, sizes], x.reshape(3, 3))
    refused(lab, "ReshapeCust", [x, sizes], x.reshape(3, 3))


WHOLE = {"strides": [1, 1, 1, 1], "pads": [1, 1, 1, 1], "dilations": [1, 1, 1, 1]}


def convolution(lab, way):
    x, weight = integers(2, 4, 7, 7, dtype=np.float16), integers(8, 4, 3, 3, high=3, dtype=np.float16)
    wanted = network.convolution(x, weight).astype(np.float16)
    operator(lab, way, "Conv2D", [x, weight], wanted, 1e-3, **WHOLE)
    return x, weight, wanted


@sample("2_verify_op/acl_execute_conv2d")
def convolution_of_a_file(lab):
    x, weight, wanted = convolution(lab, "folder")
    refused(lab, "Conv2DTik", [x, weight], wanted, **WHOLE)


@sample("6_other/acl_execute_conv2d")
def convolution_after_compiling(lab):
    convolution(lab, "folder")
    convolution(lab, "compile")


@sample("acl_compile_and_execute_conv2d")
def convolution_in_one_call(lab):
    convolution(lab, "once")


@sample("acl_offline_model/op_verify")
def add_of_open_sizes(lab):
    for sizes in ((8, 16), (3, 5)):
        a, b = integers(*sizes, dtype=np.float16), integers(*sizes, dtype=np.float16)
        operator(lab, "folder", "Add", [a, b], a + b, open_sizes=True)
    refused(lab, "AddCustom", [a, b], a + b)


@sample("acl_online_model/op_verify")
def add_in_one_call(lab):
    a, b = integers(8, 16, dtype=np.float16), integers(8, 16, dtype=np.float16)
    operator(lab, "once", "Add", [a, b], a + b)
    refused(lab, "AddCustom", [a, b], a + b)


@sample("acl_execute_addblockcust")
def blocks_of_the_samples_own(lab):
    a, where = integers(8, 16, dtype=np.float32), integers(2)
    refused(lab, "AddBlockCust", [a, a, where, where], a)


@sample("acl_execute_addmatmatelements")
def elements_of_the_samples_own(lab):
    a, one = integers(3, 32, dtype=np.float32), integers(1, dtype=np.float32)
    refused(lab, "AddMatMatElements", [a, a, a, one, one], a)


@sample("acl_execute_addrowranges")
def rows_of_the_samples_own(lab):
    a = integers(8, 16, dtype=np.float32)
    refused(lab, "AddRowRanges", [a, a, integers(8, 2)], a)


@sample("acl_execute_batchnorm")
def a_kernel_of_the_samples_own(lab):
    x, scale = integers(1, 2, 3, 3, dtype=np.float16), integers(2, dtype=np.float16)
    said = lab.run(*command(lab, "kernel", "BatchNorm", [x, scale, scale], x, {}), code=1)
    assert "207000" in said and "compiled for an NPU" in said and "aclopCompileAndExecute" in said


@sample("4_blas/gemm", "blast_acl")
def product_by_blas(lab):
    a, b, c = (integers(16, 16, dtype=np.float16) for _ in range(3))
    entry = listed("GEMM", [a, b, c, np.float16(1), np.float16(1)], c, {"transpose_a": False, "transpose_b": False})
    lab.operators(entry)
    for name, array in zip("abc", (a, b, c), strict=True):
        lab.file(f"matrix_{name}.bin", array)
    lab.run("gemm", lab.folder, 16, 16, 16)
    got = np.fromfile(lab.folder / "matrix_c.bin", np.float16).reshape(16, 16)
    wanted = a.astype(np.float32) @ b.astype(np.float32) + c
    np.testing.assert_array_equal(got, wanted.astype(np.float16))
