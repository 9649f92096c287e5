# SPDX-License-Identifier: Apache-2.0
"""acl.mdl: a model of a file, from its bytes to its results."""

import model_file
import numpy as np

import acl

HUGE_FIRST, TO_DEVICE, TO_HOST, FLOAT, ND = 0, 1, 2, 0, 2
GEAR = "ascend_mbatch_shape_data"


def run(call, folder):
    if not call.has("mdl.load_from_file"):
        return
    path = model_file.written(folder / "scaled.om", [2, 3])
    if path is None:
        return
    loads(call, path)
    model = call("mdl.load_from_file", path)
    desc = described(call, model, path)
    executed(call, model, desc)
    call("mdl.destroy_desc", desc)
    call("mdl.unload", model)
    gears(call, folder)
    bundles(call, path)
    failures(call)
    parameters(call)
    with_pictures(call, folder)


def loads(call, path):
    content = path.read_bytes()
    pointer = acl.util.bytes_to_ptr(content)
    work, weights = call("mdl.query_size", path)
    assert call("mdl.query_size_from_mem", pointer, len(content)) == (work, weights)
    buffers = [call("rt.malloc", work, HUGE_FIRST), call("rt.malloc", weights, HUGE_FIRST)]
    memory = [buffers[0], work, buffers[1], weights]
    call("mdl.unload", call("mdl.load_from_mem", pointer, len(content)))
    call("mdl.unload", call("mdl.load_from_file_with_mem", path, *memory))
    call("mdl.unload", call("mdl.load_from_mem_with_mem", pointer, len(content), *memory))
    config = call("mdl.create_config_handle")
    call("mdl.set_config_opt", config, 0, 0)
    call("mdl.set_config_opt", config, 1, 1)
    call("mdl.set_config_opt", config, 2, str(path))
    call("mdl.unload", call("mdl.load_with_config", config))
    call("mdl.destroy_config_handle", config)


def described(call, model, path):
    desc = call("mdl.create_desc")
    call("mdl.get_desc", desc, model)
    content = path.read_bytes()
    if call.has("mdl.get_desc_from_file"):
        call("mdl.get_desc_from_file", desc, path)
        call("mdl.get_desc_from_mem", desc, acl.util.bytes_to_ptr(content), len(content))
        call("mdl.get_desc", desc, model)
    assert (call("mdl.get_num_inputs", desc), call("mdl.get_num_outputs", desc)) == (1, 2)
    for side, name, dims in (("input", "x", [2, 3]), ("output", "out", [2, 3])):
        assert name in call(f"mdl.get_{side}_name_by_index", desc, 0)
        index = call(f"mdl.get_{side}_index_by_name", desc, call(f"mdl.get_{side}_name_by_index", desc, 0))
        assert index == 0 and call(f"mdl.get_{side}_data_type", desc, 0) == FLOAT
        assert call(f"mdl.get_{side}_size_by_index", desc, 0) >= 24
        call(f"mdl.get_{side}_format", desc, 0)
        told = call(f"mdl.get_{side}_dims", desc, 0)
        assert told["dims"] == dims and told["dimCount"] == 2 and name in told["name"]
    assert call("mdl.get_input_dims_v2", desc, 0)["dims"] == [2, 3]
    assert call("mdl.get_cur_output_dims", desc, 0)["dims"] == [2, 3]
    assert call("mdl.get_tensor_real_name", desc, call("mdl.get_input_name_by_index", desc, 0)) != ""
    call("mdl.get_op_attr", desc, "Add_node", "_datadump_original_op_names")
    assert call("mdl.get_dynamic_batch", desc) == {"batchCount": 0, "batch": []}
    return desc


def dataset(call, arrays):
    made = call("mdl.create_dataset")
    for array in arrays:
        pointer = call("rt.malloc", array.nbytes, HUGE_FIRST)
        acl.rt.memcpy(pointer, array.nbytes, acl.util.numpy_to_ptr(array), array.nbytes, TO_DEVICE)
        assert call("mdl.add_dataset_buffer", made, call("create_data_buffer", pointer, array.nbytes)) == made
    assert call("mdl.get_dataset_num_buffers", made) == len(arrays)
    return made


def results(call, made, arrays):
    for index, array in enumerate(arrays):
        pointer = call("get_data_buffer_addr", call("mdl.get_dataset_buffer", made, index))
        assert acl.rt.memcpy(acl.util.numpy_to_ptr(array), array.nbytes, pointer, array.nbytes, TO_HOST) == 0
    return arrays


def release(call, made):
    for index in range(call("mdl.get_dataset_num_buffers", made)):
        buffer = call("mdl.get_dataset_buffer", made, index)
        acl.rt.free(acl.get_data_buffer_addr(buffer))
        acl.destroy_data_buffer(buffer)
    call("mdl.destroy_dataset", made)


def executed(call, model, desc):
    x = np.random.default_rng(3).standard_normal((2, 3), dtype=np.float32)
    out = [np.zeros((2, 3), np.float32), np.zeros((2, 1), np.float32)]
    given, got = dataset(call, [x]), dataset(call, out)
    call("mdl.execute", model, given, got)
    for result, right in zip(results(call, got, out), model_file.expected(x), strict=True):
        np.testing.assert_allclose(result, right, rtol=1e-6)
    stream = call("rt.create_stream")
    call("mdl.execute_async", model, given, got, stream)
    call("rt.synchronize_stream", stream)
    with_limits(call, model, given, got, stream)
    told = call("mdl.get_dataset_tensor_desc", got, 0)
    assert told == 0 or acl.get_tensor_desc_size(told) == 24
    shape = call("create_tensor_desc", FLOAT, [2, 3], ND)
    assert call("mdl.set_dataset_tensor_desc", given, shape, 0) == given
    call("destroy_tensor_desc", shape)
    call("rt.destroy_stream", stream)
    release(call, given)
    release(call, got)


def with_limits(call, model, given, got, stream):
    if not call.has("mdl.execute_v2"):
        return
    config = call("mdl.create_exec_config_handle")
    call("mdl.set_exec_config_opt", config, 0, 10000)
    call("mdl.execute_v2", model, given, got, stream, config)
    call("mdl.execute_async_v2", model, given, got, stream, config)
    call("rt.synchronize_stream", stream)
    call("mdl.destroy_exec_config_handle", config)


def loaded(call, folder, name, sizes, **flags):
    path = model_file.written(folder / f"{name}.om", sizes, **flags)
    model = call("mdl.load_from_file", path)
    desc = call("mdl.create_desc")
    call("mdl.get_desc", desc, model)
    return model, desc, call("mdl.get_input_index_by_name", desc, GEAR)


def gears(call, folder):
    model, desc, gear = loaded(call, folder, "batch", ["n", 3], input_shape="x:-1,3", dynamic_batch_size="1,2,4")
    assert call("mdl.get_dynamic_batch", desc)["batch"] == [1, 2, 4]
    sized = np.zeros(call("mdl.get_input_size_by_index", desc, gear), np.uint8)
    x = np.ones((2, 3), np.float32)
    arrays = [None, None]
    arrays[gear], arrays[1 - gear] = sized, x
    given, got = dataset(call, arrays), dataset(call, [np.zeros((4, 3), np.float32), np.zeros((4, 1), np.float32)])
    call("mdl.set_dynamic_batch_size", model, given, gear, 2)
    call("mdl.execute", model, given, got)
    out = results(call, got, [np.zeros((2, 3), np.float32)])[0]
    assert np.array_equal(out, model_file.expected(x)[0])
    release(call, given)
    release(call, got)
    pictures_of_sizes(call, folder)
    gears_of_sizes(call, folder)


def pictures_of_sizes(call, folder):
    sizes = {"input_shape": "x:1,3,-1,-1", "input_format": "NCHW", "dynamic_image_size": "4,6;8,8"}
    model, desc, gear = loaded(call, folder, "picture", [1, 3, "h", "w"], **sizes)
    assert call("mdl.get_dynamic_hw", desc, -1) == {"hwCount": 2, "hw": [[4, 6], [8, 8]]}
    arrays = [None, None]
    arrays[gear] = np.zeros(call("mdl.get_input_size_by_index", desc, gear), np.uint8)
    arrays[1 - gear] = np.zeros((1, 3, 8, 8), np.float32)
    given = dataset(call, arrays)
    call("mdl.set_dynamic_hw_size", model, given, gear, 4, 6)
    release(call, given)


def gears_of_sizes(call, folder):
    sizes = {"input_shape": "x:-1,3,-1", "input_format": "ND", "dynamic_dims": "1,4;2,8"}
    model, desc, gear = loaded(call, folder, "sizes", ["n", 3, "w"], **sizes)
    count = call("mdl.get_input_dynamic_gear_count", desc, -1)
    told = call("mdl.get_input_dynamic_dims", desc, -1, count)
    assert [dims["dims"] for dims in told] == [[1, 3, 4], [2, 3, 8]]
    arrays = [None, None]
    arrays[gear] = np.zeros(call("mdl.get_input_size_by_index", desc, gear), np.uint8)
    arrays[1 - gear] = np.zeros((2, 3, 8), np.float32)
    given = dataset(call, arrays)
    call("mdl.set_input_dynamic_dims", model, given, gear, told[1])
    release(call, given)


def bundles(call, path):
    if not call.has("mdl.bundle_load_from_file"):
        return
    content = path.read_bytes()
    for name, where in (("file", [path]), ("mem", [acl.util.bytes_to_ptr(content), len(content)])):
        bundle = call(f"mdl.bundle_load_from_{name}", *where)
        assert call("mdl.bundle_get_model_num", bundle) == 1
        assert call("mdl.bundle_get_model_id", bundle, 0) != 0
        call("mdl.bundle_unload", bundle)


def failures(call):
    """Which operator of a queued run failed, and nothing of a task that did not."""
    if not call.has("mdl.create_and_get_op_desc"):
        return
    content, told = model_file.convert(model_file.gather()), []
    acl.rt.set_exception_info_callback(lambda info: told.extend(numbers_of(info)))
    model = call("mdl.load_from_mem", acl.util.bytes_to_ptr(content), len(content))
    given, got = dataset(call, [np.array([1, 9], np.int64)]), dataset(call, [np.zeros(2, np.float32)])
    stream = call("rt.create_stream")
    call("mdl.execute_async", model, given, got, stream)
    assert acl.rt.synchronize_stream(stream) != 0 and "Gather_node" in acl.get_recent_err_msg()
    acl.rt.set_exception_info_callback(None)
    name, inputs, input_count, outputs, output_count = call("mdl.create_and_get_op_desc", *told, 256)
    assert (name, input_count, output_count) == ("Gather_node", 2, 1)
    assert acl.get_tensor_desc_type(call("get_tensor_desc_by_index", outputs, 0)) == FLOAT
    for desc in (inputs, outputs):
        acl.destroy_tensor_desc(desc)
    call("mdl.create_and_get_op_desc", told[0], told[1], told[2] + 7, 256, code=100000)
    release(call, given)
    release(call, got)
    call("rt.destroy_stream", stream)


def numbers_of(info):
    return [getattr(acl.rt, f"get_{part}_id_from_exception_info")(info) for part in ("device", "stream", "task")]


def parameters(call):
    """Of dynamic AIPP: all that can be set."""
    if not call.has("mdl.create_aipp"):
        return
    aipp = call("mdl.create_aipp", 1)
    call("mdl.set_aipp_input_format", aipp, 1)
    call("mdl.set_aipp_csc_params", aipp, 1, 256, 0, 359, 256, -88, -183, 256, 454, 0, 0, 0, 0, 0, 128, 128)
    call("mdl.set_aipp_rbuv_swap_switch", aipp, 1)
    call("mdl.set_aipp_ax_swap_switch", aipp, 0)
    call("mdl.set_aipp_src_image_size", aipp, 256, 224)
    call("mdl.set_aipp_scf_params", aipp, 0, 1, 1, 1, 1, 0)
    call("mdl.set_aipp_crop_params", aipp, 1, 0, 0, 224, 224, 0)
    call("mdl.set_aipp_padding_params", aipp, 0, 0, 0, 0, 0, 0)
    call("mdl.set_aipp_dtc_pixel_mean", aipp, 1, 2, 3, 0, 0)
    call("mdl.set_aipp_dtc_pixel_min", aipp, 0.0, 0.0, 0.0, 0.0, 0)
    call("mdl.set_aipp_pixel_var_reci", aipp, 1.0, 1.0, 1.0, 1.0, 0)
    call("mdl.destroy_aipp", aipp)


def with_pictures(call, folder):
    """A model that takes pictures of bytes, whose parameters come with the run."""
    if not call.has("mdl.create_aipp", "mdl.get_aipp_type"):
        return
    (folder / "aipp.cfg").write_text("aipp_op { aipp_mode: dynamic max_src_image_size: 1024 }\n")
    told = {"input_format": "NCHW", "insert_op_conf": str(folder / "aipp.cfg")}
    model = call("mdl.load_from_file", model_file.written(folder / "aipp.om", [1, 3, 4, 6], **told))
    desc = call("mdl.create_desc")
    call("mdl.get_desc", desc, model)
    kind, index = call("mdl.get_aipp_type", model, 0)
    assert kind == 2 and index == call("mdl.get_input_index_by_name", desc, "ascend_dynamic_aipp_data")
    if call.has("mdl.get_first_aipp_info"):
        assert call("mdl.get_first_aipp_info", model, 0)["shapeCount"] >= 1
    picture = np.random.default_rng(9).integers(0, 255, (4, 6, 3), dtype=np.uint8)
    data = np.zeros(call("mdl.get_input_size_by_index", desc, 0), np.uint8)
    data[: picture.size] = picture.ravel()
    given = dataset(call, [data, np.zeros(call("mdl.get_input_size_by_index", desc, index), np.uint8)])
    out = np.zeros((1, 3, 4, 6), np.float32)
    got = dataset(call, [out, np.zeros((1, 1, 4, 6), np.float32)])
    aipp = call("mdl.create_aipp", 1)
    call("mdl.set_aipp_input_format", aipp, 3)
    call("mdl.set_aipp_src_image_size", aipp, 6, 4)
    call("mdl.set_input_aipp", model, given, index, aipp)
    call("mdl.set_aipp_by_input_index", model, given, 0, aipp)
    call("mdl.execute", model, given, got)
    right = model_file.expected(picture.transpose(2, 0, 1)[None].astype(np.float32))[0]
    np.testing.assert_allclose(results(call, got, [out])[0], right, rtol=1e-3)
    call("mdl.unload", model)
