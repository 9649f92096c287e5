# SPDX-License-Identifier: Apache-2.0
"""Processes that train together: npu.distribute and the collectives of graphs, against NumPy and against one process
that trains on the joined batches."""

import os
import signal
import time

import pytest
from ranks import HEAD, alone, same, start, table, together, weights

VALUES = """
def of(rank, shape=(4, 3)):
    return np.random.default_rng(rank).normal(size=shape).astype(np.float32)

mine, all_of_them = of(rank), np.stack([of(r) for r in range(count)])
same = lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)
total = all_of_them[0]
for one in all_of_them[1:]:
    total = total + one  # in the order of ranks: the same bits
np.testing.assert_array_equal(npu.distribute.all_reduce(tf.constant(mine), "sum"), total)
same(npu.distribute.all_reduce([tf.constant(mine)])[0], all_of_them.mean(0))
kept, none = npu.distribute.all_reduce([tf.constant(mine), None])
same(kept, all_of_them.mean(0)), same(none is None, True)
for name, oracle in (("max", np.max), ("min", np.min), ("prod", np.prod)):
    same(npu.distribute.all_reduce(tf.constant(mine), name), oracle(all_of_them, 0))
whole = npu.distribute.all_reduce({"a": tf.constant([7, 8]) * (rank + 1)}, "mean")["a"]
np.testing.assert_array_equal(whole, np.array([7, 8]) * sum(range(1, count + 1)) // count)
slices = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([rank]), tf.constant([count, 2]))
np.testing.assert_array_equal(npu.distribute.all_reduce(slices, "sum"), np.tile([1.0, 2.0], (count, 1)))
for dtype in (tf.float16, tf.bfloat16, tf.float64, tf.int8, tf.int64, tf.uint8):
    got = npu.distribute.all_reduce(tf.cast([1, 2, rank], dtype), "sum")
    assert got.dtype == dtype and got.numpy().tolist() == [count, 2 * count, sum(range(count))]

@tf.function
def graph(x):
    assert hccl_ops.allgather(x, count).shape == (4 * count, 3) and hccl_ops.allreduce(x, "sum").shape == (4, 3)
    return (hccl_ops.allreduce(x, "max"), hccl_ops.allgather(x, count), hccl_ops.reduce_scatter(x, "sum", count),
            hccl_ops.reduce(x, "sum", 1), *hccl_ops.broadcast([x, tf.cast(x, tf.float64)], 1))

for _ in range(3):
    highest, gathered, part, one, sent, double = graph(tf.constant(mine))
    same(highest, all_of_them.max(0)), same(gathered, np.concatenate(all_of_them))
    size = 4 // count
    same(part, total[rank * size : (rank + 1) * size])
    np.testing.assert_array_equal(one, total if rank == 1 else mine)
    np.testing.assert_array_equal(sent, all_of_them[1])
    assert double.dtype == tf.float64

x = tf.Variable(mine)
with tf.GradientTape() as tape:
    y = sum(tf.reduce_sum(f ** 2) for f in (hccl_ops.allgather(x, count), hccl_ops.allreduce(x, "sum"),
                                            hccl_ops.reduce_scatter(x, "sum", count)))
same(tape.gradient(y, x), 2 * count * mine + 2 * count * total + 2 * total)
with tf.GradientTape() as tape:
    y = tf.reduce_sum(hccl_ops.allreduce(x, "max"))
raised(LookupError, "an allreduce by max has no gradient", lambda: tape.gradient(y, x))

variables = [tf.Variable(mine), tf.Variable(rank)]
npu.distribute.broadcast(variables, 1)
np.testing.assert_array_equal(variables[0], all_of_them[1])
assert variables[1].numpy() == 1
data, batch = npu.distribute.shard_and_rebatch_dataset(tf.data.Dataset.range(2 * count), 4 * count)
assert [int(v) for v in data] == [rank, rank + count] and batch == 4
raised(ValueError, "Batch size must be divisible by num npus", lambda:
       npu.distribute.shard_and_rebatch_dataset(data, 4 * count + 1))
raised(ValueError, "no group 'mine'", lambda: npu.distribute.all_reduce(x, group="mine"))
raised(ValueError, f"rank_size is 9, and the group has {count} ranks", lambda: hccl_ops.allgather(x, 9))
raised(NotImplementedError, "hccl_ops.remote_read is not built", lambda: hccl_ops.remote_read(x, tf.float32))
raised(ValueError, "reduction is 'mean'; it is one of max", lambda: hccl_ops.allreduce(x, "mean"))
raised(tf.errors.InvalidArgumentError, "the root is rank 9", lambda: hccl_ops.broadcast([x], 9))
from npu_device.distribute.npu_callbacks import npu_broadcast_scope_wrapper
with npu_broadcast_scope_wrapper(tf.distribute.get_strategy()).scope():
    made = tf.Variable(mine)
np.testing.assert_array_equal(made, all_of_them[0])
assert told("has one replica | not averaged over the", lambda: tf.distribute.MirroredStrategy())[0] == 1
"""


EXCHANGED = """
import ctypes
from npu_device.adapter import library
rng = np.random.default_rng(7)
matrix = rng.integers(0, 4, (count, count))
matrix[0, 1] = 0
ends = lambda counts: np.cumsum(counts) - counts
def of(r):  # with a number in front of each part that nobody is sent
    return np.random.default_rng(r).normal(size=matrix[r].sum() + count).astype(np.float32)
from_ = lambda r: ends(matrix[r]) + np.arange(count) + 1
part = lambda sender, to: of(sender)[from_(sender)[to] :][: matrix[sender, to]]
got = matrix[:, rank]
at = ends(got) + 2 * np.arange(count)  # two zeros between the parts
wanted = np.zeros(max(at[got > 0] + got[got > 0]), np.float32)
for r in range(count):
    wanted[at[r] : at[r] + got[r]] = part(r, rank)

def by_counts(x):
    return hccl_ops.all_to_all_v(x, matrix[rank], from_(rank), got, at)

def by_matrix(x):
    packed = tf.concat([x[begin : begin + n] for begin, n in zip(from_(rank), matrix[rank])] + [x[:1]], 0)
    return hccl_ops.all_to_all_v_c(packed, matrix, rank)

x = tf.Variable(of(rank))
packed = np.concatenate([part(r, rank) for r in range(count)])
sent = np.zeros_like(of(rank))
for r in range(count):
    sent[from_(rank)[r] : from_(rank)[r] + matrix[rank, r]] = 1
for function, right in ((by_counts, wanted), (by_matrix, packed)):
    for run in (function, tf.function(function)):
        with tf.GradientTape() as tape:
            y = run(x)
            value = tf.reduce_sum(y**2)
        np.testing.assert_array_equal(y, right)
        np.testing.assert_allclose(tape.gradient(value, x), 2 * of(rank) * sent, rtol=1e-6)

@tf.function  # counts that only the run tells
def routed(x, counts):
    theirs = hccl_ops.allgather(counts[None], count)[:, rank]
    return hccl_ops.all_to_all_v(x, counts, tf.cumsum(counts, exclusive=True), theirs,
                                 tf.cumsum(theirs, exclusive=True))
for turn in range(3):
    m = (matrix + turn) % 4
    values = [np.arange(m[r].sum(), dtype=np.int32) + 100 * r for r in range(count)]
    y = routed(tf.constant(values[rank]), tf.constant(m[rank]))
    theirs = [values[r][ends(m[r])[rank] :][: m[r, rank]] for r in range(count)]
    np.testing.assert_array_equal(y, np.concatenate(theirs))

both = tf.Variable(np.arange(4.0, dtype=np.float32) + rank)  # every rank is sent the same: gradients add up
with tf.GradientTape() as tape:
    y = hccl_ops.all_to_all_v(both, [4] * count, [0] * count, [4] * count, [4 * r for r in range(count)])
    value = tf.reduce_sum(y * np.repeat(np.arange(1.0, count + 1), 4).astype(np.float32))
np.testing.assert_allclose(tape.gradient(value, both), [count * (rank + 1.0)] * 4)

@tf.function
def around(x):
    "To the next rank, from the one before; a pair's messages follow one another."
    ahead, behind = (rank + 1) % count, (rank - 1) % count
    for tag, n in ((3, 5), (4, 2000)):
        if rank % 2 == 0:
            hccl_ops.send(x[:n], tag, ahead)
            y = hccl_ops.receive([n], tf.float32, tag, behind)
        else:
            y = hccl_ops.receive([n], tf.float32, tag, behind)
            hccl_ops.send(x[:n], tag, ahead)
    return y
for _ in range(2):
    y = around(tf.fill([3000], float(rank)))
    np.testing.assert_array_equal(y, np.full(2000, (rank - 1) % count, np.float32))

core, block = library.load(), ctypes.c_void_p()
piece = np.arange(6, dtype=np.int32) + 10 * rank
size, host = ctypes.c_size_t(piece.nbytes), ctypes.c_void_p(piece.ctypes.data)
assert core.aclrtSetDevice(rank) == 0 and core.aclrtMalloc(ctypes.byref(block), size, 0) == 0
assert core.aclrtMemcpy(block, size, host, size, 1) == 0
address = block.value
info = np.array([[address + 4, 8]] + [[address, 4]] * (count - 1), np.uint64).reshape(-1)
received, gathered = tf.function(lambda info: hccl_ops.gather_all_to_all_v(
    info, [1] * count, [2 if rank == 0 else 1] * count,
    [(2 if rank == 0 else 1) * r for r in range(count)], tf.int32, -2))(tf.constant(info))
np.testing.assert_array_equal(gathered, [10 * rank + 1, 10 * rank + 2] + [10 * rank] * (count - 1))
wanted = [10 * r + i for r in range(count) for i in ((1, 2) if rank == 0 else (0,))]
np.testing.assert_array_equal(received, wanted)

raised(tf.errors.OpError, "send_counts has 1 numbers | of 2 ranks" if count == 2 else "send_counts has 1",
       lambda: hccl_ops.all_to_all_v(x, [1], [0], [1], [0]))
raised(tf.errors.OpError, "send_counts[0] is 99", lambda:
       hccl_ops.all_to_all_v(x, [99] * count, [0] * count, [1] * count, [0] * count))
raised(tf.errors.OpError, "addrinfo", lambda: hccl_ops.gather_all_to_all_v(
       tf.constant(np.array([64, 4] * count, np.uint64)), [1] * count, [1] * count, list(range(count)), tf.int32, -1))
raised(ValueError, f"dest_rank is 9; the group has the ranks 0 to {count - 1}", lambda: hccl_ops.send(x, 0, 9))
raised(tf.errors.OpError, "EI0005 | sr_tag is", lambda: (hccl_ops.send(x[:1], 5 + rank, (rank + 1) % count),
                                             hccl_ops.receive([1], tf.float32, 9, (rank - 1) % count)))
"""


@pytest.mark.parametrize("count", [2, 4])
def test_exchanges_and_messages(count, tmp_path):
    together(HEAD + EXCHANGED, tmp_path, count)


@pytest.mark.parametrize("count", [2, 4])
def test_values(count, tmp_path):
    together(HEAD + VALUES, tmp_path, count)


TRAINED = """
def model():
    tf.keras.utils.set_random_seed(1 + rank)
    return tf.keras.Sequential([tf.keras.Input((8,)), tf.keras.layers.Dense(16, "relu"), tf.keras.layers.Dense(3)])

def data():
    x = np.random.default_rng(0).normal(size=(96, 8)).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((x, np.random.default_rng(1).integers(0, 3, 96)))

loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
kinds = {"sgd": lambda: tf.keras.optimizers.SGD(0.1, momentum=0.9), "adam": lambda: tf.keras.optimizers.Adam(0.01),
         "legacy": lambda: tf.keras.optimizers.legacy.Adam(0.01)}
out = {}
for name, make in kinds.items():
    m, (d, b) = model(), npu.distribute.shard_and_rebatch_dataset(data(), 24)
    wrap = npu.distribute.npu_distributed_keras_optimizer_wrapper
    optimizer = wrap(wrap(make()))  # the second time does nothing
    m.compile(optimizer, loss)
    m.fit(d.batch(b, drop_remainder=True), epochs=3, verbose=0,
          callbacks=npu.distribute.hccl.npu_callbacks_append())
    out[name] = [w.tolist() for w in m.get_weights()]

m, optimizer = model(), tf.keras.optimizers.SGD(0.1)
npu.distribute.broadcast(m.trainable_variables)
d, b = npu.distribute.shard_and_rebatch_dataset(data(), 24)

@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        value = loss(y, m(x))
    grads = npu.distribute.all_reduce(tape.gradient(value, m.trainable_variables))
    npu.distribute.grouping_gradients_apply(optimizer.apply_gradients, zip(grads, m.trainable_variables))

optimizer.build(m.trainable_variables)
for x, y in d.batch(b, drop_remainder=True):
    step(x, y)
out["grouped"] = [w.tolist() for w in m.get_weights()]
print("WEIGHTS", json.dumps(out), flush=True)
"""


def test_ranks_train_as_one_process_on_the_joined_batch(tmp_path):
    first, second = (weights(output) for output in together(HEAD + TRAINED, tmp_path))
    assert first == second, "ranks end with the same bits"
    for name, wanted in weights(alone(HEAD + TRAINED)).items():
        same(first[name], wanted, 1e-5)  # sums of gradients in another order, over 12 steps


SESSION = """
import json, os, warnings
warnings.simplefilter("ignore")
import numpy as np
from npu_bridge.npu_init import *
import tensorflow.compat.v1 as tf
from npu_bridge.estimator.npu import util
from npu_bridge.hccl import hccl_ops
tf.disable_v2_behavior()
X = np.random.RandomState(0).randn(64, 8).astype("f")
x, y = tf.placeholder(tf.float32, [None, 8]), tf.placeholder(tf.float32, [None, 1])
w = tf.get_variable("w", initializer=np.full([8, 1], 1.0 + rank, np.float32))
loss = tf.reduce_mean((tf.matmul(x, w) - y) ** 2)
step = NPUDistributedOptimizer(tf.train.MomentumOptimizer(0.1, 0.9)).minimize(loss)
summed = hccl_ops.allreduce(tf.constant([1.0 + rank]), "sum")
config = tf.ConfigProto()
config.graph_options.rewrite_options.custom_optimizers.add(name="NpuOptimizer")
hooks = [NPUBroadcastGlobalVariablesHook(0, rank)]
with tf.train.MonitoredTrainingSession(config=npu_config_proto(config_proto=config), hooks=hooks) as session:
    if count > 1:
        assert session.run(summed) == [sum(range(1, count + 1))]
    for i in range(8):
        part = X[8 * i + rank : 8 * i + 8 : count]
        session.run(step, {x: part, y: 2 * part[:, :1] + 1})
    trained = session.run(w).tolist()

tf.reset_default_graph()  # the same in loops of the engine, four steps each
whole = tf.data.Dataset.from_tensor_slices(X).batch(8).repeat()
part = tf.data.make_one_shot_iterator(whole).get_next()[rank::count]
w = tf.get_variable("w", initializer=np.full([8, 1], 1.0, np.float32))
loss = tf.reduce_mean((tf.matmul(part, w) - 2 * part[:, :1] - 1) ** 2)
step = NPUDistributedOptimizer(tf.train.MomentumOptimizer(0.1, 0.9)).minimize(loss)
config.graph_options.rewrite_options.custom_optimizers[0].parameter_map["iterations_per_loop"].i = 4
with tf.Session(config=config) as session:
    session.run(tf.global_variables_initializer())
    step = util.set_iteration_per_loop(session, step, 4)
    for _ in range(2):
        session.run(step)
    print("WEIGHTS", json.dumps([trained, session.run(w).tolist()]), flush=True)
"""


def test_sessions_train_as_one_on_the_joined_batch(tmp_path):
    first, second = (weights(output) for output in together(SESSION, tmp_path))
    assert first == second
    same(first, weights(alone(SESSION)), 1e-5)
    same(first[1], first[0], 1e-5)  # the same steps, in loops


DIFFERS = """
x = tf.ones([4 + rank])
for _ in range(2):  # and again: the communicator has ended
    raised(tf.errors.OpError, "EI0005 | 4 | 5", lambda: npu.distribute.all_reduce(x, "sum"))
"""


def test_what_differs_between_ranks_is_told_on_all_of_them(tmp_path):
    together(HEAD + DIFFERS, tmp_path)


ORDERS = """
@tf.function
def step(x, y):
    first = hccl_ops.allreduce(x, "sum")
    body = lambda i, y: (i + 1, hccl_ops.allreduce(y, "max" if rank == 1 else "min"))  # differs there alone
    return first, tf.while_loop(lambda i, _: i < 2, body, [0, y])

@tf.function
def other(x):
    return hccl_ops.broadcast([hccl_ops.allreduce(x, "sum")], 0)[0]

x = tf.ones([4])
assert other(x)[0] == count and other(x)[0] == count
if rank == 1:  # traced anew in one process alone: no rank waits for a comparison
    other(tf.ones([2, 2]))
else:
    other(x)
raised(tf.errors.OpError, "EI0005 | of function | step | at #2 | HcomAllReduce (min) of float32[4]"
       " | HcomAllReduce (max) of float32[4]", lambda: step(x, x))
"""


def test_orders_that_differ_are_told_before_the_first_step(tmp_path, monkeypatch):
    monkeypatch.setenv("DUMP_GE_GRAPH", "2")
    monkeypatch.setenv("DUMP_GRAPH_PATH", str(tmp_path / "graphs"))
    together(HEAD + ORDERS, tmp_path)
    written = [path.read_text() for path in (tmp_path / "graphs").rglob("*Build.txt")]
    assert sum("HcomAllReduce" in text and "HcomBroadcast" in text for text in written) >= 2, "of each rank"


LOST = """
x = tf.ones([4])
print("met", npu.distribute.all_reduce(x, "sum").numpy()[0], flush=True)
if rank == 1:
    sys.stdin.read()  # until it is killed
try:
    npu.distribute.all_reduce(x, "sum")
except tf.errors.OpError as error:
    print("HEARD", type(error).__name__, error, flush=True)
"""


def test_a_rank_that_is_killed_is_named(tmp_path):
    path = table(tmp_path, [0, 1])
    head = "import os\nrank = int(os.environ['RANK_ID'])\n" + HEAD + LOST
    ranks = [start(head, RANK_TABLE_FILE=path, RANK_ID=str(i), RANK_SIZE="2") for i in range(2)]
    for line in iter(ranks[1].stdout.readline, "met 2.0\n"):
        assert line, "rank 1 has ended"
    time.sleep(0.5)
    ranks[1].send_signal(signal.SIGKILL)
    begun = time.monotonic()
    output = ranks[0].communicate(timeout=60)[0]
    ranks[1].communicate()
    assert ranks[0].returncode == 0 and "HEARD" in output and "rank 1" in output.split("HEARD")[1], output
    assert time.monotonic() - begun < 30  # 2 s where the machine is idle
    assert os.path.exists(path)
