# SPDX-License-Identifier: Apache-2.0
"""Calls every function once, as a script would. `python calls.py FOLDER` prints the names of those that worked.

Code 207000 is right for a feature that is refused by name (acl/unsupported.tsv).
"""

import json
import pathlib
import sys

import lookup
import model_file
import numpy as np

import acl

HUGE_FIRST, TO_DEVICE, TO_HOST, WITHIN = 0, 1, 2, 3
FLOAT, FLOAT16, INT8, INT32, INT64, ND = 0, 1, 2, 3, 9, 2


class Recorder:
    """call("rt.malloc", 64, 0) -> the results without the code, which must be `code`."""

    def __init__(self):
        self.done = set()

    def has(self, *names):
        return all(lookup.function(name) for name in names)

    def __call__(self, name, *arguments, code=0):
        result = lookup.function(name)(*arguments)
        results = lookup.ROWS[name].results
        values = result if isinstance(result, tuple) else (result,) if results else ()
        assert len(values) == len(results), f"acl.{name} gave {result!r}, the table names {results}"
        if results and results[-1] == "ret":
            assert values[-1] == code, f"acl.{name}{arguments} gave code {values[-1]}: {acl.get_recent_err_msg()}"
            values = values[:-1]
        self.done.add(name)
        return values[0] if len(values) == 1 else values or None

    def given(self, name, *arguments):
        """The same, where the library has it."""
        return self(name, *arguments) if self.has(name) else None


def to_device(call, array):
    pointer = call("rt.malloc", array.nbytes, HUGE_FIRST)
    call("rt.memcpy", pointer, array.nbytes, call("util.numpy_to_ptr", array), array.nbytes, TO_DEVICE)
    return pointer


def to_host(call, pointer, like):
    array = np.empty_like(like)
    call("rt.memcpy", call("util.numpy_to_ptr", array), array.nbytes, pointer, array.nbytes, TO_HOST)
    return array


def start(call):
    call("init")
    assert call("rt.get_device_count") >= 1
    call("rt.set_device", 0)
    assert call("rt.get_device") == 0
    return call("rt.create_context", 0)


def versions(call):
    assert call("get_version") == (1, 1, 0)
    assert call("get_soc_name").startswith("Ascend")
    assert call("get_recent_err_msg") is None, "nothing has failed"
    assert call("app_log", 1, "a line of 100 %s") is None
    assert call("get_cann_attribute", 1) == 1
    assert call("get_device_capability", 0, 0) > 0
    call("set_compileopt", 11, "1")
    assert call("get_compileopt", 11, call("get_compileopt_size", 11)) == "1"
    assert [call("data_type_size", kind) for kind in (FLOAT, FLOAT16, INT64)] == [4, 2, 8]
    assert call("float16_to_float", call("float_to_float16", 1.5)) == 1.5


def descriptions(call):
    buffer = call("create_data_buffer", 4096, 16)
    assert (call("get_data_buffer_addr", buffer), call("get_data_buffer_size", buffer)) == (4096, 16)
    call("update_data_buffer", buffer, 8192, 32)
    assert call("get_data_buffer_size_v2", buffer) == 32
    call("destroy_data_buffer", buffer)
    desc = call("create_tensor_desc", FLOAT, [2, 3], ND)
    assert (call("get_tensor_desc_type", desc), call("get_tensor_desc_format", desc)) == (FLOAT, ND)
    assert (call("get_tensor_desc_size", desc), call("get_tensor_desc_element_count", desc)) == (24, 6)
    assert (call("get_tensor_desc_num_dims", desc), call("get_tensor_desc_dim", desc, 1)) == (2, 3)
    assert call("get_tensor_desc_dim_v2", desc, 0) == 2
    call("set_tensor_desc_name", desc, "x")
    assert call("get_tensor_desc_name", desc) == "x"
    call("set_tensor_format", desc, ND)
    call("set_tensor_shape", desc, (2, 3))
    call("set_tensor_place_ment", desc, 1)
    value = np.array([7], dtype=np.int32)
    constant = call("create_tensor_desc", INT32, [1], ND)
    call("set_tensor_const", constant, call("util.numpy_to_ptr", value), value.nbytes)
    call("destroy_tensor_desc", constant)
    rare_descriptions(call)
    call("destroy_tensor_desc", desc)


def rare_descriptions(call):
    desc = call("create_tensor_desc", FLOAT, [-1, 3], ND)
    for part in ("origin", "storage"):
        call(f"set_tensor_{part}_format", desc, ND)
        call(f"set_tensor_{part}_shape", desc, [2, 3])
    call("set_tensor_shape_range", desc, [[1, 8], [3, 3]])
    assert call("get_tensor_desc_dim_range", desc, 0, 2) == [1, 8]
    call("set_tensor_dynamic_input", desc, "x")
    assert call("get_tensor_desc_address", desc) == 0
    call("rt.get_last_error", 0, code=207000)  # says where to ask for it
    call.given("get_tensor_desc_by_index", desc, 0)
    call("destroy_tensor_desc", desc)


def devices(call, context):
    assert call("rt.get_run_mode") == 1
    call("rt.set_ts_device", 0)
    call("rt.synchronize_device")
    call("rt.synchronize_device_with_timeout", 1000)
    assert set(call("rt.get_device_utilization_rate", 0)) >= {"cube_utilization", "memory_utilization"}
    assert call("rt.get_device_info", 0, 101) > 0
    call("rt.set_device_sat_mode", call("rt.get_device_sat_mode"))
    assert call("rt.device_can_access_peer", 0, 1) == 1
    call("rt.device_enable_peer_access", 1, 0)
    call("rt.device_disable_peer_access", 1)
    call("rt.set_device_res_limit", 0, 0, 4)
    assert call("rt.get_device_res_limit", 0, 0) == 4
    call("rt.reset_device_res_limit", 0)
    call("rt.set_context", context)
    assert call("rt.get_context") == context
    call("rt.set_sys_param_opt", 0, 1)
    assert call("rt.get_sys_param_opt", 0) == 1
    call("rt.ctx_set_sys_param_opt", 0, 0)
    assert call("rt.ctx_get_sys_param_opt", 0) == 0
    call("rt.destroy_context", call("rt.create_context", 0))
    call("rt.set_context", context)
    call("rt.set_op_wait_timeout", 100)
    call("rt.set_op_execute_timeout", 100)
    call("rt.set_op_execute_timeout_v2", 1000000)
    call("rt.get_last_error", 0)
    call("rt.peek_at_last_error", 0)


def streams(call):
    stream = call("rt.create_stream")
    other = call("rt.create_stream_with_config", 0, 1)
    call("rt.synchronize_stream", stream)
    call("rt.synchronize_stream_with_timeout", stream, 1000)
    assert call("rt.stream_query", stream) == 0
    assert call("rt.stream_get_id", stream) != call("rt.stream_get_id", other)
    call("rt.set_stream_failure_mode", stream, 0)
    call("rt.set_stream_overflow_switch", stream, 1)
    assert call("rt.get_stream_overflow_switch", stream) == 1
    call("rt.set_stream_overflow_switch", stream, 0)
    call("rt.set_stream_res_limit", stream, 0, 2)
    assert call("rt.get_stream_res_limit", stream, 0) == 2
    call("rt.reset_stream_res_limit", stream)
    begun, ended = call("rt.create_event"), call("rt.create_event_with_flag", 8)
    call("rt.record_event", begun, stream)
    call("rt.stream_wait_event", other, begun)
    call("rt.record_event", ended, other)
    call("rt.synchronize_event", ended)
    assert call("rt.query_event", ended) == 0 and call("rt.query_event_status", ended) == 1
    assert call("rt.query_event_wait_status", begun) == 0
    assert call("rt.event_elapsed_time", begun, ended) >= 0
    assert call("rt.event_get_timestamp", ended) > 0
    call("rt.reset_event", begun, stream)
    for event in (begun, ended, call("rt.create_event_ex_with_flag", 1)):
        call("rt.destroy_event", event)
    if call.has("rt.reset_overflow_status"):
        call("rt.reset_overflow_status", stream)
        status = call("rt.malloc", 64, 0)
        call("rt.get_overflow_status", status, 64, stream)
        call("rt.free", status)
    call("rt.destroy_stream_force", other)
    call("rt.destroy_stream", stream)


def memory(call):
    stream = call("rt.create_stream")
    host = call("rt.malloc_host", 4096)
    for allocate in ("rt.malloc", "rt.malloc_align32", "rt.malloc_cached"):
        pointer = call(allocate, 4096, HUGE_FIRST)
        call("rt.memset", pointer, 4096, 1, 4096)
        call("rt.memset_async", pointer, 4096, 2, 8, stream)
        call("rt.memcpy_async", host, 4096, pointer, 16, TO_HOST, stream)
        call("rt.synchronize_stream", stream)
        assert call("util.ptr_to_bytes", host, 16) == b"\2" * 8 + b"\1" * 8
        call("rt.memcpy_async_with_condition", pointer, 4096, host, 16, TO_DEVICE, stream)
        call("rt.cmo_async", pointer, 64, 0, stream)
        call("rt.mem_flush", pointer, 4096)
        call("rt.mem_invalidate", pointer, 4096)
        call("rt.synchronize_stream", stream)
        call("rt.free", pointer)
    free, total = call("rt.get_mem_info", 1)
    assert 0 < free <= total
    assert call("rt.host_register", host, 4096, 0) == host
    call("rt.host_unregister", host)
    call("rt.free_host", host)
    call("rt.release_mem_address", call("rt.reserve_mem_address", 2 << 20, 0, 0, 1))
    call("rt.destroy_stream", stream)


def callbacks(call, context):
    stream, told = call("rt.create_stream"), []
    run = [True]

    def serve(arguments):
        acl.rt.set_context(arguments[0])
        while run[0]:
            acl.rt.process_report(arguments[1])

    thread = call("util.start_thread", serve, [context, 20])
    call("rt.subscribe_report", thread, stream)
    call("rt.launch_callback", told.append, "callback", 1, stream)
    call("rt.launch_host_func", stream, told.append, "host")
    call("rt.synchronize_stream", stream)
    assert told == ["callback", "host"]
    call("rt.unsubscribe_report", thread, stream)
    run[0] = False
    call("util.stop_thread", thread)
    assert call("rt.process_report", 1, code=acl.rt.process_report(1)) is None
    call("rt.set_exception_info_callback", told.append)
    call("rt.set_exception_info_callback", None)
    for part in ("task_id", "stream_id", "thread_id", "device_id", "error_code"):
        assert call(f"rt.get_{part}_from_exception_info", 0) == 0xFFFFFFFF
    call("rt.destroy_stream", stream)


def arrays(call):
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    pointer, rows = call("util.numpy_contiguous_to_ptr", array.T)
    assert np.array_equal(call("util.ptr_to_numpy", pointer, (3, 2), 11), array.T) and rows.flags.c_contiguous
    held = bytes(array.nbytes)
    call("rt.memcpy", call("util.bytes_to_ptr", held), len(held), pointer, len(held), 0)
    assert held == rows.tobytes()


def operators(call, folder):
    attr = call("op.create_attr")
    call("op.set_attr_bool", attr, "a", True)
    call("op.set_attr_int", attr, "b", -1)
    call("op.set_attr_float", attr, "c", 2.0)
    call("op.set_attr_string", attr, "d", "123")
    call("op.set_attr_data_type", attr, "e", FLOAT)
    call("op.set_attr_list_bool", attr, "f", [0, 1])
    call("op.set_attr_list_int", attr, "g", np.array([4, 5], dtype=np.int64))
    call("op.set_attr_list_float", attr, "h", [1.0, 2.5])
    call("op.set_attr_list_list_int", attr, "i", [[10], [20, 30], []])
    call("op.set_attr_list_string", attr, "j", ["1", "2"])
    call("op.set_attr_list_data_type", attr, "k", [FLOAT, INT32])
    call("op.destroy_attr", attr)
    call("op.set_compile_flag", 1)
    x = np.arange(6, dtype=np.float32)
    compiled_before(call, folder)
    for name in ("compile_and_execute", "compile_and_execute_v2", "execute", "execute_v2"):
        if call.has(f"op.{name}"):
            compiled = (0, 0, None) if "compile" in name else ()
            assert np.array_equal(added(call, f"op.{name}", x, compiled), x + x)
    handles(call, x)
    casts(call)


def compiled_before(call, folder):
    """Files of single operators, as atc --singleop makes them: what acl.op.execute runs."""
    for name, content in model_file.single_operators(model_file.ADD_OF_6).items():
        (folder / name).write_bytes(content)
        call("op.load", call("util.bytes_to_ptr", content), len(content))
    call("op.set_model_dir", str(folder))


def tensors(call, arrays):
    descs = [call("create_tensor_desc", {"f": FLOAT, "i": INT32}[a.dtype.kind], list(a.shape), ND) for a in arrays]
    pointers = [to_device(call, a) for a in arrays]
    return descs, pointers, [call("create_data_buffer", p, a.nbytes) for p, a in zip(pointers, arrays, strict=True)]


def free(call, descs, pointers, buffers):
    for desc, pointer, buffer in zip(descs, pointers, buffers, strict=True):
        call("destroy_data_buffer", buffer)
        call("rt.free", pointer)
        call("destroy_tensor_desc", desc)


def added(call, name, x, compiled):
    """x + x by one of the functions that run an operator."""
    descs, pointers, buffers = tensors(call, [x, x, np.zeros_like(x)])
    attr = call("op.create_attr")
    call(name, "Add", descs[:2], buffers[:2], descs[2:], buffers[2:], attr, *compiled, 0)
    call("rt.synchronize_stream", 0)
    result = to_host(call, pointers[2], x)
    call("op.destroy_attr", attr)
    free(call, descs, pointers, buffers)
    return result


def handles(call, x):
    descs, pointers, buffers = tensors(call, [x, x, np.zeros_like(x)])
    attr = call("op.create_attr")
    call.given("op.compile", "Add", descs[:2], descs[2:], attr, 0, 0, None)
    call.given("op.update_params", "Add", descs[:2], descs[2:], attr)
    if call.has("op.create_handle", "op.execute_with_handle"):
        handle = call("op.create_handle", "Add", descs[:2], descs[2:], attr)
        call("op.execute_with_handle", handle, buffers[:2], buffers[2:], 0)
        call("rt.synchronize_stream", 0)
        assert np.array_equal(to_host(call, pointers[2], x), x + x)
        call("op.destroy_handle", handle)
    output = call("create_tensor_desc", FLOAT, [1], ND)
    call("op.infer_shape", "Add", descs[:2], buffers[:2], 1, [output], attr)
    assert call("get_tensor_desc_dim_v2", output, 0) == x.size
    call("destroy_tensor_desc", output)
    call("op.destroy_attr", attr)
    free(call, descs, pointers, buffers)


def casts(call):
    x, whole = np.array([1.75, -2.5], dtype=np.float32), np.array([1, -2], dtype=np.int32)
    descs, pointers, buffers = tensors(call, [x, np.zeros_like(whole)])
    call("op.cast", descs[0], buffers[0], descs[1], buffers[1], 0, 0)
    call("rt.synchronize_stream", 0)
    assert np.array_equal(to_host(call, pointers[1], whole), whole)
    call("op.destroy_handle", call("op.create_handle_for_cast", descs[0], descs[1], 0))
    free(call, descs, pointers, buffers)


def finished(call, context):
    call("rt.destroy_context", context)
    call("rt.reset_device", 0)
    call("finalize")


def main(folder):
    call = Recorder()
    context = start(call)
    versions(call)
    descriptions(call)
    devices(call, context)
    streams(call)
    memory(call)
    callbacks(call, context)
    arrays(call)
    operators(call, folder)
    for module in ("product_calls", "profile_calls", "model_calls", "media_calls", "channel_calls"):
        __import__(module).run(call, folder)
    finished(call, context)
    print(json.dumps(sorted(call.done)))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
