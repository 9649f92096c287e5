# SPDX-License-Identifier: Apache-2.0
"""What needs a process of its own: how one ends, forks, logs, and opens two devices. TensorFlow takes seconds to load,
so each script checks several things."""

import re

import fresh
import pytest

HEAD = """
import threading, time
import npu_device as npu
import numpy as np
import tensorflow as tf
"""


@pytest.fixture
def run(tmp_path):
    return lambda code, **environment: fresh.run(tmp_path, HEAD + code, limit=180, **environment)


@pytest.mark.parametrize("ending", ["", "npu.close(); npu.open(); sys.exit(0)"])
def test_the_process_ends_while_a_thread_is_in_a_step(run, ending):
    # An endless step in one thread, with its provider ahead of it; short ones in another.
    code = """
npu.open().as_default()
v, started = tf.Variable(tf.zeros([32, 32])), threading.Event()

@tf.function
def step(ds):
    for x in ds:
        v.assign_add(tf.matmul(v, v) + tf.cast(x, tf.float32))

def forever():
    ds = tf.data.Dataset.range(2000)
    while True:
        step(ds)
        started.set()

threading.Thread(target=forever, daemon=True).start()
assert started.wait(60)
assert tf.function(lambda: tf.ones([2]) + 1.0)().numpy().tolist() == [2, 2]
"""
    run(code + ending)


def test_a_forked_child_is_told_and_the_parent_goes_on(run):
    out, _ = run(
        """
import multiprocessing
npu.open().as_default()
x = tf.ones([4]) + 1.0

def square(n):
    return int((np.arange(n) ** 2).sum())

child = os.fork()
if child == 0:
    try:
        raised(tf.errors.FailedPreconditionError, "forked after npu.open | get_context('spawn')", lambda: x + 1.0)
        raised(tf.errors.FailedPreconditionError, "forked after npu.open", lambda: x.numpy())
        npu.close()
        del x
        print("child told", flush=True)
        os._exit(0)
    except BaseException as e:
        print(e, flush=True)
        os._exit(1)
assert os.waitpid(child, 0)[1] == 0
with multiprocessing.get_context("fork").Pool(2) as pool:  # workers that leave the NPU alone
    assert pool.map(square, [3, 4]) == [5, 14]
assert (x + 1.0).numpy().tolist() == [3, 3, 3, 3]
print("parent well")
"""
    )
    assert out.split() == ["child", "told", "parent", "well"]


@pytest.mark.promise("several NPUs in one TensorFlow process; forks; a clean end in the middle of a step")
def test_two_devices_in_one_process(run):
    run(
        """
first, second = npu.open(0), npu.open(1)
assert npu.open(1) is second and npu.open() is first and first is not second
raised(RuntimeError, "Failed open npu device 99 : | devices 0 to 3 (ANYNPU_DEVICES)", lambda: npu.open(99))
raised(RuntimeError, "Failed open npu device -1 : ", lambda: npu.open(-1))
first.as_default()
a = tf.constant([1.0, 2.0])
v = tf.Variable([1.0, 1.0])
with second.scope():
    b = tf.constant([3.0, 4.0])
    w = tf.Variable([10.0, 20.0])
    copy = tf.identity(a)
    w.assign_add(copy)
    with tf.device("CPU"):
        c = tf.identity(b)
assert [t.device[-5:] for t in (a, v, b, w, copy, c)] == ["NPU:0", "NPU:0", "NPU:1", "NPU:1", "NPU:1", "CPU:0"]
assert w.numpy().tolist() == [11, 22] and (a + c).numpy().tolist() == [4, 6]
assert tf.identity(b).device[-5:] == "NPU:0" and copy.numpy().tolist() == [1, 2]
raised(tf.errors.InvalidArgumentError, "different custom device", lambda: a + b)

# The same function on each; each counts its own.
@tf.function
def scaled(x, y):
    return x * 2.0 + y

assert scaled(a, a).device[-5:] == "NPU:0"
with second.scope():
    assert scaled(b, b).device[-5:] == "NPU:1" and scaled(b, b).numpy().tolist() == [9, 12]
names = [[f["name"] for f in device.report()] for device in (first, second)]
assert any("scaled" in n for n in names[0]) and any("scaled" in n for n in names[1])

# Data sets belong to nobody; a model trains where it was made.
data = tf.data.Dataset.from_tensor_slices((np.ones([64, 3], "f"), np.ones([64, 1], "f"))).batch(16)
losses = []
for device in (first, second):
    with device.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
        model.compile(tf.keras.optimizers.SGD(0.1), "mse")
        losses.append(model.fit(data, epochs=2, verbose=0).history["loss"])
        assert model.weights[0].device == device.name()
assert losses[0] == losses[1], losses

# The default of this thread and of later ones changes with each as_default().
def started():
    found = []
    thread = threading.Thread(target=lambda: found.append(tf.ones([1]).device[-5:]))
    thread.start()
    thread.join()
    return [tf.ones([1]).device[-5:], *found]

second.as_default()
assert started() == ["NPU:1", "NPU:1"]
first.as_default()
assert started() == ["NPU:0", "NPU:0"]

def on(device):
    with device.scope():
        for _ in range(50):
            x = tf.ones([8, 8])
            found.append(scaled(x, x).device)

found = []
threads = [threading.Thread(target=on, args=[device]) for device in (first, second)]
[t.start() for t in threads], [t.join() for t in threads]
assert sorted(found) == [first.name()] * 50 + [second.name()] * 50
""",
        ANYNPU_DEVICES="4",
    )


def test_which_device_opens_without_a_number(run):
    run(
        """
for text in ("one", "-1", "0.5"):
    os.environ["ASCEND_DEVICE_ID"] = text
    raised(ValueError, "must be the number of a device", npu.open)
os.environ["ASCEND_DEVICE_ID"] = "7"
raised(RuntimeError, "Failed open npu device 7 : ", npu.open)
del os.environ["ASCEND_DEVICE_ID"]
os.environ |= {"RANK_SIZE": "2", "CM_CHIEF_IP": "127.0.0.1"}
raised(ValueError, "RANK_SIZE and CM_CHIEF_IP describe the same cluster in two ways", npu.open)
del os.environ["RANK_SIZE"], os.environ["CM_CHIEF_IP"]
os.environ["GE_USE_STATIC_MEMORY"] = "1"
npu.global_options().memory_config.static_memory_policy = 2
raised(ValueError, "static_memory_policy and GE_USE_STATIC_MEMORY", npu.open)
npu.global_options().memory_config.static_memory_policy = 0
assert npu.open(2) is npu.open() and npu.open().name().endswith("NPU:2")
os.environ["ASCEND_DEVICE_ID"] = "1"
assert npu.open().name().endswith("NPU:1")
""",
        ANYNPU_DEVICES="4",
    )


FED = """
npu.open().as_default()

@tf.function
def loop(ds):
    count = 0
    for _ in ds:
        count += 1
    return count

@tf.function
def steps(it, n):
    total = tf.constant(0.0)
    for _ in tf.range(n):
        total += tf.reduce_sum(next(it))
    return total

zeros = tf.data.Dataset.from_tensors(tf.zeros([1024, 1024])).repeat(3)
loop(zeros)
loop(zeros.batch(2))
loop(tf.data.Dataset.from_tensors("text").repeat(3))
loop(tf.data.Dataset.from_tensors(tf.zeros([0])).repeat(3))
npu.set_npu_loop_size(3)
steps(iter(zeros), 3)
raised(tf.errors.OutOfRangeError, "End of sequence", lambda: steps(iter(zeros), 4))
"""


def test_the_log_tells_of_iterators_as_the_vendors_does(run):
    _, log = run(FED, TF_CPP_MIN_LOG_LEVEL="0", NPU_DEBUG="1")
    line = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}: I core/\w+\.cpp:\d+\] ")
    texts = [line.sub("", t) for t in log.splitlines() if line.match(t)]
    said = "\n".join(texts)
    assert re.findall(r"started, depth (\d+)", said) == ["128", "3", "64", "2", "128", "128"]
    name = re.search(r"Iterator resource provider for (AnonymousIterator\d+) created\.", said)[1]
    for text in (
        f"1 hdc channels for iterator resource {name} created.",
        f"Hdc channel for iterator resource {name} to device [0] created.",
        f"Stopping iterator resource provider for {name}",
        f"Hdc channel {name} closed",
        "Npu loop size is set to 3, it will take effect in the next training loop",
        "Set npu loop size to 3",
    ):
        assert text in texts, text
    assert not re.search(r"^0 hdc channels", said, re.M)  # iterators of the program are read ahead too
    again = r"Start consume iterator resource (AnonymousIterator\d+) 3 times\n"
    assert re.search(again + r"Iterator resource \1 consume 3 times done with status OK$", said, re.M)
    assert re.search(r"consume 4 times done with status .*End of sequence", said)
    _, log = run(FED, TF_CPP_MIN_LOG_LEVEL="0", ANYNPU_FEED="0")
    assert "hdc channel" not in log and "consume 3 times done" in log


LOOPS = """
npu.open().as_default()
elements = iter(tf.data.Dataset.range(1000))

@tf.function
def loop(n):
    total = tf.constant(0, tf.int64)
    for _ in tf.range(n):
        total += next(elements)
    return total

@tf.function
def by_itself(ds):
    total = tf.constant(0, tf.int64)
    for x in ds:
        total += x
    return total

one = tf.function(lambda: next(elements))
"""
SAID = r"W .*__inference_loop_\d+ took 5 elements of AnonymousIterator\d+ in one run, and npu loop size is (\d+)\. .*" \
       r"npu\.set_npu_loop_size\(5\) or NPU_LOOP_SIZE=5"  # fmt: skip


def test_a_loop_of_another_size_is_told(run):
    code = LOOPS + "loop(5); loop(5); one(); by_itself(tf.data.Dataset.range(7)); loop(32)"
    for level in "01":
        assert re.findall(SAID, run(code, NPU_LOOP_SIZE="32", TF_CPP_MIN_LOG_LEVEL=level)[1]) == ["32"]
    assert " took " not in run(code, TF_CPP_MIN_LOG_LEVEL="0")[1], "the program says nothing of loops"
    _, log = run(
        LOOPS + "npu.set_npu_loop_size(5); loop(5); npu.set_npu_loop_size(6); loop(5)", TF_CPP_MIN_LOG_LEVEL="1"
    )
    assert re.findall(SAID, log) == ["6"]


def test_an_ignored_learning_rate_is_told(run):
    run(
        """
import warnings
npu.open().as_default()

def told(make):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        optimizer = make()
    texts = [str(w.message) for w in found if w.category is UserWarning and "learning rate is" in str(w.message)]
    return optimizer, texts

keras = tf.keras.optimizers
optimizer, texts = told(lambda: keras.Adam(lr=0.1))
assert texts == ["Adam(lr=0.1): this TensorFlow ignores `lr`, the learning rate is 0.001; "
                 "write Adam(learning_rate=0.1)"], texts
assert abs(float(optimizer.learning_rate) - 0.001) < 1e-9
optimizer, texts = told(lambda: keras.SGD(0.5, lr=0.1))
assert "the learning rate is 0.5; write SGD(learning_rate=0.1)" in texts[0]
schedule = keras.schedules.ExponentialDecay(0.1, 10, 0.5)
assert "the learning rate is ExponentialDecay" in told(lambda: keras.SGD(schedule, lr=0.1))[1][0]
optimizer, texts = told(lambda: keras.Adam(learning_rate=0.1))
assert texts == []
optimizer, texts = told(lambda: keras.legacy.Adam(lr=0.25))  # the legacy ones take it
assert texts == [] and float(optimizer.lr) == 0.25
copy = keras.Adam.from_config(keras.Adam(lr=0.1).get_config())
assert abs(float(copy.learning_rate) - 0.001) < 1e-9
raised(TypeError, "speed is not a valid argument", lambda: keras.Adam(speed=1))
"""
    )
