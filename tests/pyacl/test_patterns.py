# SPDX-License-Identifier: Apache-2.0
"""Scripts as the public samples write them, each in a process of its own."""

import lookup
import pytest

HELLO = """
import acl
assert acl.init() == 0
assert acl.rt.set_device(0) == 0
mode, ret = acl.rt.get_run_mode()
assert ret == 0
print("run mode", mode)
assert acl.rt.reset_device(0) == 0
assert acl.finalize() == 0
"""

COPY = """
import acl, numpy as np
acl.init(); acl.rt.set_device(0)
context, ret = acl.rt.create_context(0)
stream, ret = acl.rt.create_stream()
data = np.random.default_rng(7).random((3, 224, 224), dtype=np.float32)
size = data.size * data.itemsize
if "bytes_to_ptr" in dir(acl.util):
    bytes_data = data.tobytes()
    ptr = acl.util.bytes_to_ptr(bytes_data)
else:
    ptr = acl.util.numpy_to_ptr(data)
first, ret = acl.rt.malloc(size, 2)
second, ret = acl.rt.malloc(size, 2)
assert acl.rt.memcpy(first, size, ptr, size, 1) == 0
assert acl.rt.memcpy_async(second, size, first, size, 3, stream) == 0
host, ret = acl.rt.malloc_host(size)
assert acl.rt.memcpy_async(host, size, second, size, 2, stream) == 0
assert acl.rt.synchronize_stream(stream) == 0
result = np.frombuffer(acl.util.ptr_to_bytes(host, size), dtype=data.dtype).reshape(data.shape)
view = acl.util.ptr_to_numpy(host, data.shape, 11)
assert np.array_equal(result, data) and np.array_equal(view, data)
view[0, 0, 0] = 5
assert np.frombuffer(acl.util.ptr_to_bytes(host, 4), np.float32)[0] == 5
acl.rt.free_host(host); acl.rt.free(first); acl.rt.free(second)
acl.rt.destroy_stream(stream); acl.rt.destroy_context(context); acl.rt.reset_device(0)
assert acl.finalize() == 0
print("equal")
"""

TIMING = """
import acl, numpy as np
acl.init(); acl.rt.set_device(0)
begin, ret = acl.rt.create_event()
end, ret = acl.rt.create_event()
size = 64 << 20
pointer, ret = acl.rt.malloc(size, 0)
data = bytes(size)
acl.rt.record_event(begin, 0)
acl.rt.memcpy(pointer, size, acl.util.bytes_to_ptr(data), size, 1)
acl.rt.record_event(end, 0)
acl.rt.synchronize_event(end)
ms, ret = acl.rt.event_elapsed_time(begin, end)
assert ret == 0 and ms > 0, (ms, ret)
print("timed")
"""

# A thread of Python's own may serve callbacks as well as one of acl.util.
CALLBACKS = """
import acl, threading, time
acl.init(); acl.rt.set_device(0)
context, ret = acl.rt.get_context()
stream, ret = acl.rt.create_stream()

class Worker:
    def __init__(self):
        self.exit, self.told = False, []

    def serve(self, args_list):
        context, timeout = args_list
        acl.rt.set_context(context)
        while not self.exit:
            acl.rt.process_report(timeout)

    def callback(self, data_list):
        self.told.append((data_list[0], threading.get_ident()))

for own in (True, False):
    worker = Worker()
    if own:
        tid, ret = acl.util.start_thread(worker.serve, [context, 50])
        assert ret == 0
    else:
        thread = threading.Thread(target=worker.serve, args=([context, 50],))
        thread.start()
        tid = thread.ident
    assert acl.rt.subscribe_report(tid, stream) == 0
    for i in range(20):
        assert acl.rt.launch_callback(worker.callback, [i], i % 2, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.unsubscribe_report(tid, stream) == 0
    worker.exit = True
    if own:
        assert acl.util.stop_thread(tid) == 0
    else:
        thread.join()
    assert [i for i, _ in worker.told] == list(range(20)), worker.told
    assert {ident for _, ident in worker.told} == {tid}
print("in order")
"""

OPERATOR = """
import acl, numpy as np
acl.init(); acl.rt.set_device(0)
stream, ret = acl.rt.create_stream()
x1 = np.arange(12, dtype=np.float32).reshape(3, 4)
x2 = np.ones((4, 2), dtype=np.float32)

def tensor(array):
    pointer, ret = acl.rt.malloc(array.nbytes, 0)
    acl.rt.memcpy(pointer, array.nbytes, acl.util.numpy_to_ptr(array), array.nbytes, 1)
    return (acl.create_tensor_desc(0, list(array.shape), 2), acl.create_data_buffer(pointer, array.nbytes), pointer)

a, b, c = tensor(x1), tensor(x2), tensor(np.zeros((3, 2), np.float32))
attr = acl.op.create_attr()
assert acl.op.set_attr_bool(attr, "transpose_x1", False) == 0
assert acl.op.set_attr_bool(attr, "transpose_x2", False) == 0
ret = acl.op.compile_and_execute("MatMul", [a[0], b[0]], [a[1], b[1]], [c[0]], [c[1]], attr, 0, 0, "", stream)
assert ret == 0, acl.get_recent_err_msg()
acl.rt.synchronize_stream(stream)
result = np.zeros((3, 2), np.float32)
acl.rt.memcpy(acl.util.numpy_to_ptr(result), result.nbytes, c[2], result.nbytes, 2)
assert np.array_equal(result, x1 @ x2)
ret = acl.op.compile_and_execute("MatMull", [], [], [], [], attr, 0, 0, "", stream)
assert ret == 100024 and "MatMul" in acl.get_recent_err_msg()
print("equal")
"""

THREADS = """
import acl, threading, numpy as np
acl.init(); acl.rt.set_device(0)
context, ret = acl.rt.get_context()
wrong = []
def work(seed):
    acl.rt.set_context(context)
    stream, ret = acl.rt.create_stream()
    data = np.random.default_rng(seed).random(1 << 16)
    for _ in range(50):
        pointer, ret = acl.rt.malloc(data.nbytes, 0)
        acl.rt.memcpy_async(pointer, data.nbytes, acl.util.numpy_to_ptr(data), data.nbytes, 1, stream)
        acl.rt.synchronize_stream(stream)
        if acl.util.ptr_to_bytes(pointer, data.nbytes) != data.tobytes():
            wrong.append(seed)
        acl.rt.free(pointer)
    acl.rt.destroy_stream(stream)
threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
assert not wrong
print("equal")
"""


@pytest.mark.promise("scripts against pyACL run as they are written: `import acl`")
@pytest.mark.parametrize(
    "code, said",
    [
        (HELLO, "run mode 1"),
        (COPY, "equal"),
        (TIMING, "timed"),
        (CALLBACKS, "in order"),
        (OPERATOR, "equal"),
        (THREADS, "equal"),
    ],
    ids=["hello", "copy", "timing", "callbacks", "operator", "threads"],
)
def test_a_public_script_runs(script, code, said):
    done = script(code)
    assert done.returncode == 0 and done.stdout.strip().endswith(said), done.stderr


def test_a_wait_lets_other_threads_run(script):
    """Else the thread of the callback could never run while another one waits for it."""
    done = script("""
import acl, threading, time
acl.init(); acl.rt.set_device(0)
counted = [0]
def count():
    while True:
        counted[0] += 1
        time.sleep(0.001)
threading.Thread(target=count, daemon=True).start()
stream, _ = acl.rt.create_stream()
event, _ = acl.rt.create_event()
acl.rt.launch_host_func(stream, lambda _: time.sleep(0.3), None)
acl.rt.record_event(event, stream)
before = counted[0]
acl.rt.synchronize_event(event)
assert counted[0] - before > 20, counted[0] - before
print("ran")
""")
    assert done.stdout.strip() == "ran", done.stderr


def test_an_exception_in_a_callback_is_shown_and_ends_nothing(script):
    done = script("""
import acl
acl.init(); acl.rt.set_device(0)
stream, _ = acl.rt.create_stream()
def fail(data):
    raise KeyError(data)
acl.rt.launch_host_func(stream, fail, "of mine")
print(acl.rt.synchronize_stream(stream))
""")
    assert done.returncode == 0 and done.stdout.strip() == "0", done.stderr
    assert "KeyError: 'of mine'" in done.stderr


def test_the_callback_of_failed_tasks(script):
    done = script("""
import acl
acl.init(); acl.rt.set_device(0)
told = []
def failed(info):
    told.append((acl.rt.get_device_id_from_exception_info(info), acl.rt.get_error_code_from_exception_info(info), info))
assert acl.rt.set_exception_info_callback(failed) == 0
stream, _ = acl.rt.create_stream()
event, _ = acl.rt.create_event()
acl.rt.set_op_wait_timeout(1)
run = [True]
tid, _ = acl.util.start_thread(lambda _: [acl.rt.process_report(10) for _ in iter(lambda: run[0], False)], [])
other, _ = acl.rt.create_stream()
acl.rt.launch_host_func(other, lambda _: __import__("time").sleep(2), None)
acl.rt.record_event(event, other)
acl.rt.stream_wait_event(stream, event)
assert acl.rt.synchronize_stream(stream) != 0
run[0] = False
acl.util.stop_thread(tid)
assert len(told) == 1 and told[0][0] == 0 and told[0][1] != 0, told
assert acl.rt.get_device_id_from_exception_info(told[0][2]) == 0xFFFFFFFF
print("told")
""")
    assert done.stdout.strip() == "told", done.stderr


@pytest.mark.parametrize(
    "thread",
    [
        "acl.util.start_thread(lambda a: [acl.rt.process_report(20) for _ in iter(int, 1)], [])",
        "acl.util.start_thread(lambda a: [None for _ in iter(int, 1)], [])",
        "threading.Thread(target=lambda: [acl.rt.process_report(5) for _ in iter(int, 1)], daemon=True).start()",
        "acl.rt.launch_host_func(acl.rt.create_stream()[0], lambda _: time.sleep(0.2), None)",
    ],
)
def test_the_end_of_python_waits_for_no_thread(script, thread):
    """A script that forgets its threads ends as it would have ended without them."""
    for _ in range(3):
        done = script(f"""
import acl, threading, time
acl.init(); acl.rt.set_device(0)
{thread}
time.sleep(0.02)
print("over")
""")
        assert (done.returncode, done.stdout.strip()) == (0, "over"), done.stderr


MODEL = lookup.function("mdl.load_from_file")


@pytest.mark.skipif(MODEL is None, reason="aclmdlLoadFromFile is not in this library")
def test_a_file_that_is_no_model_is_refused(tmp_path):
    import acl

    acl.init()
    acl.rt.set_device(0)
    path = tmp_path / "wrong.om"
    path.write_bytes(b"no model")
    assert acl.mdl.load_from_file(str(path))[1] != 0
    assert acl.get_recent_err_msg()
    content = path.read_bytes()
    assert acl.mdl.load_from_mem(acl.util.bytes_to_ptr(content), len(content))[1] != 0
    assert acl.mdl.unload(4711) != 0


def test_the_example_of_one_operator(script):
    done = script(lookup.ROOT / "examples/acl/hello.py")
    assert done.returncode == 0 and done.stdout.endswith(": 11 22 33 44\n"), done.stderr
