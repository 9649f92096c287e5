# SPDX-License-Identifier: Apache-2.0
"""Wrong calls raise, or give a code; none ends the process."""

import json

import lookup
import numpy as np
import pytest

import acl


@pytest.mark.promise("a wrong call of acl raises or gives a code, and ends no process")
def test_no_function_takes_what_makes_no_sense(script):
    done = script(lookup.ROOT / "tests/pyacl/wrong_calls.py")
    assert done.returncode == 0, f"exit status {done.returncode} in {done.stderr.splitlines()[-1]}"
    assert json.loads(done.stdout.splitlines()[-1]) == {}


@pytest.fixture(scope="module", autouse=True)
def device():
    acl.init()
    acl.rt.set_device(0)


@pytest.fixture
def pointer():
    pointer, ret = acl.rt.malloc(64, 0)
    assert ret == 0
    yield pointer
    acl.rt.free(pointer)


def test_a_copy_from_no_memory(pointer):
    with pytest.raises(
        ValueError, match="acl.rt.memcpy: src is an address where this process has no memory of 64 bytes"
    ):
        acl.rt.memcpy(pointer, 64, 4096, 64, 1)
    with pytest.raises(ValueError, match="acl.rt.memcpy: dst is an address"):
        acl.rt.memcpy(4096, 64, pointer, 64, 2)


def test_a_copy_past_the_end_of_memory(pointer):
    assert acl.rt.memcpy(pointer, 64, pointer, 65, 3) == 107000
    assert "65" in acl.get_recent_err_msg()
    assert acl.rt.memcpy(0, 64, pointer, 64, 2) == 100000


def test_freed_memory_is_refused():
    freed, _ = acl.rt.malloc(64, 0)
    assert acl.rt.free(freed) == 0 and acl.rt.free(freed) == 107000
    held = np.zeros(64, np.uint8)
    assert acl.rt.memcpy(acl.util.numpy_to_ptr(held), 64, freed, 64, 2) == 107000
    assert "freed" in acl.get_recent_err_msg() or "live" in acl.get_recent_err_msg()


@pytest.mark.parametrize("make, destroy, use", [
    (lambda: acl.create_data_buffer(4096, 8), acl.destroy_data_buffer, acl.destroy_data_buffer),
    (lambda: acl.rt.create_stream()[0], acl.rt.destroy_stream, acl.rt.synchronize_stream),
    (lambda: acl.rt.create_event()[0], acl.rt.destroy_event, acl.rt.synchronize_event),
    (lambda: acl.op.create_attr(), acl.op.destroy_attr, lambda attr: acl.op.set_attr_int(attr, "a", 1)),
])  # fmt: skip
def test_a_destroyed_handle_gives_a_code(make, destroy, use):
    handle = make()
    assert destroy(handle) in (0, None)
    assert use(handle) != 0 and acl.get_recent_err_msg()


def test_a_destroyed_description_tells_nothing():
    desc = acl.create_tensor_desc(0, [2], 2)
    assert acl.destroy_tensor_desc(desc) is None
    assert acl.get_tensor_desc_type(desc) == -1 and acl.get_tensor_desc_size(desc) == 0


@pytest.mark.parametrize("value", ["1", 1.5, [1], {}])
def test_an_address_is_an_int(value):
    with pytest.raises(TypeError, match="acl.rt.free: dev_ptr is of type .*; it is an address, an int"):
        acl.rt.free(value)


def test_numbers_of_numpy_are_numbers(pointer):
    assert acl.rt.memset(np.int64(pointer), np.uint32(64), np.int8(0), np.uint64(64)) == 0


def test_none_is_null():
    assert acl.rt.synchronize_stream(None) == 0 and acl.get_data_buffer_addr(None) == 0


def test_lists_of_two_lengths():
    with pytest.raises(ValueError, match="acl.op.compile_and_execute: inputs has 0 elements, the list before it 1"):
        acl.op.compile_and_execute("Add", [1], [], [], [], 0, 0, 0, "", 0)


@pytest.mark.parametrize("text", ["a\0b", b"a\0b"])
def test_a_text_with_a_zero(text):
    with pytest.raises(ValueError, match="acl.init: config_path has a zero in it"):
        acl.init(text)


def test_memory_that_is_none_is_no_array():
    with pytest.raises(ValueError, match="acl.util.ptr_to_numpy: ptr is an address where"):
        acl.util.ptr_to_numpy(4096, (4,), 11)
    with pytest.raises(ValueError, match="acl.util.ptr_to_bytes: ptr is an address where"):
        acl.util.ptr_to_bytes(0, 4)
    with pytest.raises(ValueError, match="type is no number"):
        acl.util.ptr_to_numpy(4096, (4,), 13)
    with pytest.raises(ValueError, match="more elements than"):
        acl.util.ptr_to_numpy(4096, (1 << 40, 1 << 40), 11)
    assert acl.util.ptr_to_bytes(0, 0) == b""


def test_device_memory_is_no_array_of_the_host(pointer):
    with pytest.raises(ValueError, match="ptr is in device memory, which the host does not read"):
        acl.util.ptr_to_numpy(pointer, (4,), 11)
    assert acl.rt.memset(pointer, 64, 7, 64) == 0
    assert acl.util.ptr_to_bytes(pointer, 64) == b"\7" * 64


def test_rows_that_do_not_follow_each_other_are_told():
    with pytest.warns(UserWarning, match="numpy_contiguous_to_ptr"):
        acl.util.numpy_to_ptr(np.zeros((4, 4)).T[1:3])


def test_a_thread_that_nobody_started():
    assert acl.util.stop_thread(12345) == 100000
    with pytest.raises(TypeError, match="acl.util.start_thread: func is of type int; it is a function"):
        acl.util.start_thread(1, [])
    with pytest.raises(TypeError, match="args is of type int; it is a list"):
        acl.util.start_thread(print, 1)


def test_a_callback_without_a_thread_is_dropped():
    stream, _ = acl.rt.create_stream()
    assert acl.rt.launch_callback(print, [], 1, stream) == 100034
    assert acl.rt.destroy_stream(stream) == 0


@pytest.mark.parametrize("seed", range(4))
def test_no_order_of_calls_ends_the_process(script, seed):
    done = script(lookup.ROOT / "tests/pyacl/random_calls.py", str(seed), "3000", ANYNPU_MEMORY="256M")
    assert done.returncode == 0, f"exit status {done.returncode} in {done.stderr.splitlines()[-1]}"
    assert int(done.stdout.splitlines()[-1]) > 500
