# SPDX-License-Identifier: Apache-2.0
"""What stands around a computation: asynchronous execution, logs and profiles, Keras' ways to run a step, strategies
and devices by name, sparse and ragged tensors."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import tensorflow as tf
from both import on_both
from tensorflow.python.distribute.parallel_device import parallel_device
from tensorflow.python.eager import context, executor

layers = tf.keras.layers
NPU = "/job:localhost/replica:0/task:0/device:NPU:0"


@on_both
def test_asynchronous_executors():
    mine = executor.new_executor(enable_async=True)
    with context.executor_scope(mine):
        a = tf.ones([4, 4])
        v = tf.Variable(tf.matmul(a, a) + 1.0)
        v.assign_add(a)
        y = tf.function(lambda x: x * 2.0 + v)(a)
        drawn = [int(x) for x in tf.data.Dataset.range(3).map(lambda x: x + 1)]
    mine.wait()
    return v.read_value(), y, drawn


@on_both
def test_asynchronous_mode():
    tf.config.experimental.set_synchronous_execution(False)
    try:
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.linalg.inv(tf.zeros([2, 2])).numpy()
        context.context().clear_executor_errors()
        total = tf.reduce_sum(tf.ones([4, 4]) @ tf.ones([4, 4])).numpy()
    finally:
        tf.config.experimental.set_synchronous_execution(True)
    return total


@on_both
def test_summaries(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))

    @tf.function
    def f(x, step):
        with writer.as_default():
            tf.summary.scalar("in a graph", x, step)
            tf.summary.image("image", tf.ones([1, 2, 2, 3]) * x, step)

    with writer.as_default(step=1):
        tf.summary.scalar("a", tf.constant(1.5))
        tf.summary.histogram("h", tf.range(5.0))
        tf.summary.text("t", "words")
    f(tf.constant(0.25), tf.constant(2, tf.int64))
    writer.close()
    (name,) = tf.io.gfile.listdir(str(tmp_path))
    records = tf.data.TFRecordDataset(str(tmp_path / name))
    events = [tf.compat.v1.Event.FromString(r.numpy()) for r in records]
    return [(v.tag, tf.make_ndarray(v.tensor)) for e in events for v in e.summary.value]


def test_profiles(tmp_path):
    with tf.profiler.experimental.Profile(str(tmp_path)), tf.profiler.experimental.Trace("step", step_num=1):
        tf.function(lambda x: x @ x)(tf.ones([3, 3]))
    assert list(tmp_path.rglob("*.xplane.pb"))


@on_both
def test_numbers_are_checked():
    tf.debugging.enable_check_numerics()
    try:
        with pytest.raises(tf.errors.InvalidArgumentError, match='Infinity or NaN in output 0 of .* "Log"'):
            tf.math.log(tf.constant(-1.0))
        with pytest.raises(tf.errors.InvalidArgumentError, match='Infinity or NaN in output 0 of .* "RealDiv"'):
            tf.function(lambda x: x / 0.0)(tf.constant(1.0))
    finally:
        tf.debugging.disable_check_numerics()
    return tf.math.log(tf.constant(-1.0))


def dense(units=1):
    return tf.keras.Sequential([layers.Dense(units, kernel_initializer=tf.keras.initializers.GlorotUniform(1))])


class OwnStep(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense, self.mean = dense(), tf.keras.metrics.Mean("k")

    def call(self, x):
        return self.dense(x)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self(x, training=True) - y) ** 2)
        self.optimizer.minimize(loss, self.trainable_variables, tape=tape)
        self.mean.update_state(loss)
        return {"k": self.mean.result()}


@pytest.mark.parametrize("how", ["run_eagerly", "steps_per_execution", "jit_compile", "own step"])
def test_keras_runs_steps_in_every_way(how):
    x = np.linspace(0, 1, 64, dtype="float32").reshape(32, 2)

    def losses():
        model = OwnStep() if how == "own step" else dense()
        model.compile("adam", "mse", **({} if how == "own step" else {how: 4 if how[0] == "s" else True}))
        return list(map(np.float32, model.fit(x, x[:, :1], batch_size=8, epochs=2, verbose=0).history.values()))

    on_both(losses, rtol=1e-5)()


@on_both
def test_learning_rates():
    schedules = tf.keras.optimizers.schedules
    v = tf.Variable(1.0)
    o = tf.keras.optimizers.Adam(schedules.PiecewiseConstantDecay([1, 2], [1.0, 0.5, 0.1]))
    f = tf.function(lambda: o.apply_gradients([(tf.constant(1.0), v)]))
    steps = [f() is not None and v.numpy() for _ in range(4)]
    rates = [
        schedules.CosineDecay(1.0, 10, warmup_steps=2, warmup_target=2.0)(5),
        schedules.ExponentialDecay(1.0, 10, 0.9, staircase=True)(25),
        schedules.PolynomialDecay(1.0, 10, cycle=True)(12),
        schedules.InverseTimeDecay(1.0, 2, 0.5)(3),
        schedules.CosineDecayRestarts(1.0, 4)(9),
    ]
    return steps, [np.float32(r) for r in rates], o.iterations.read_value()


@on_both
def test_ragged_and_sparse_tensors():
    r, s = tf.ragged.constant([[1.0, 2.0], [], [3.0]]), tf.sparse.from_dense([[0.0, 2.0], [1.0, 0.0]])
    total = tf.function(lambda q: (tf.reduce_sum(q, 1), tf.reduce_max(q, 0), (q + 1.0).to_tensor(-1.0)))
    product = tf.function(lambda q, d: tf.sparse.sparse_dense_matmul(q, d))
    joined, s2 = tf.concat([r, r], 1), tf.sparse.from_dense([[1, 2], [3, 0]])
    return (
        (total(r), joined, joined.row_lengths(), r.bounding_shape(), tf.gather(r, [2, 0]), r[:, :1]),
        (product(s, tf.ones([2, 2])), tf.sparse.to_dense(tf.sparse.add(s, s)), tf.sparse.reduce_sum(s, 1)),
        (tf.sparse.reorder(s), tf.sparse.transpose(s), tf.RaggedTensor.from_sparse(s2)),
        tf.keras.layers.Embedding(5, 2, embeddings_initializer="ones")(tf.ragged.constant([[1], [2, 3]])),
    )  # fmt: skip


@on_both(rtol=1e-4)
def test_operators_without_a_node_of_their_own():
    image = tf.reshape(tf.cast(tf.range(12), tf.uint8), [2, 2, 3])
    return (
        tf.linalg.svd(tf.constant([[2.0, 0.0], [0.0, 1.0]]))[0],
        tf.signal.fft(tf.complex(tf.range(4.0), 0.0)),
        tf.signal.stft(tf.range(16.0), 8, 4),
        tf.image.resize(tf.reshape(tf.range(4.0), [1, 2, 2, 1]), [4, 4], "bicubic"),
        tf.image.decode_png(tf.io.encode_png(image)),
        tf.nn.ctc_loss([[1]], tf.zeros([3, 1, 4]), [1], [3]),
        tf.linalg.cholesky(tf.eye(2) * 4.0),
        tf.histogram_fixed_width([0.0, 1.0, 4.0], [0.0, 5.0], 5),
        tf.io.decode_raw(tf.constant("abcd"), tf.uint8),
        tf.bitwise.bitwise_xor(tf.constant([5]), tf.constant([3])),
    )


def test_devices_by_name():
    with tf.device("/device:NPU:0"):
        a, b = tf.ones([2]), tf.Variable(1.0)
    with tf.device("/GPU:0"):
        elsewhere = tf.ones([1])
    assert a.device == b.device == NPU and "CPU" in elsewhere.device

    @tf.function
    def f(x):
        with tf.device("/cpu:0"):
            y = x + 1
        with tf.device("/device:NPU:0"):
            return y * 2

    assert f(a).numpy().tolist() == [4, 4]
    tf.config.set_soft_device_placement(False)
    try:
        assert tf.strings.length("abc").numpy() == 3 and tf.ones([2]).device == NPU
    finally:
        tf.config.set_soft_device_placement(True)


def test_thread_pools_and_events():
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lambda i: (tf.constant(i) + 1).device, range(4))) == [NPU] * 4
    v, go = tf.Variable(0), threading.Event()
    later = threading.Timer(0, lambda: (v.assign_add(1), go.set()))
    later.start()
    assert go.wait(30) and v.numpy() == 1


def test_numpy_and_dlpack():
    a = tf.reshape(tf.range(4.0), [2, 2])
    assert np.asarray(a).sum() == 6 and memoryview(a).shape == (2, 2) and (np.ones(2) @ a.numpy()).tolist() == [2, 4]
    taken = tf.experimental.dlpack.from_dlpack(tf.experimental.dlpack.to_dlpack(a))
    assert "NPU" in a.device and "CPU" in taken.device and taken.numpy().tolist() == [[0, 1], [2, 3]]
    assert "NPU" in (taken + a).device
    with tf.device("CPU"):
        capsule = tf.experimental.dlpack.to_dlpack(tf.identity(a))
        assert tf.experimental.dlpack.from_dlpack(capsule).numpy().sum() == 6


def test_strategies_with_one_npu():
    for strategy in (tf.distribute.OneDeviceStrategy(NPU), tf.distribute.MirroredStrategy(["/device:NPU:0"])):
        with strategy.scope():
            v = tf.Variable(1.0)
        result = strategy.run(tf.function(lambda v=v: v + 1.0))
        assert "NPU" in v.device and strategy.reduce("SUM", result, None).numpy() == 2
        assert strategy.num_replicas_in_sync == 1


@pytest.mark.filterwarnings("ignore:.*Strategy (has one replica|keeps its variables)")
@pytest.mark.parametrize(
    "name", ["MirroredStrategy", "experimental.CentralStorageStrategy", "MultiWorkerMirroredStrategy"]
)
def test_strategies_of_tensorflows_choice(name):
    strategy = getattr(tf.distribute.experimental if "." in name else tf.distribute, name.split(".")[-1])()
    with strategy.scope():
        model = dense()
        model.compile("sgd", "mse")
    history = model.fit(np.ones((16, 2), "f"), np.ones((16, 1), "f"), verbose=0).history
    assert strategy.num_replicas_in_sync == 1 and np.isfinite(history["loss"]).all()


def test_parallel_devices():
    pair = parallel_device.ParallelDevice([NPU, "/job:localhost/device:CPU:0"])
    with pair:
        x = tf.ones([])
    assert [part.device == NPU for part in pair.unpack(x)] == [True, False]
    assert os.path.basename(pair.components[0]) == "device:NPU:0"
