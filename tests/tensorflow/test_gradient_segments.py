# SPDX-License-Identifier: Apache-2.0
"""Gradients that go together: hccl.split.api, fusion and fusion_id, hcom_parallel, on two ranks."""

import json
import re

import pytest
from ranks import start, table, together
from test_ranks import HEAD

GRADIENTS = 24
DEFAULT = "group hccl_world_group, float32: segment index list: [0,17] [18,23]"
STEP = """
from hccl.split.api import set_split_strategy_by_idx, set_split_strategy_by_size

rng = np.random.default_rng(7 + rank)
sizes = [3 + 5 * i for i in range(12)]
variables = []
for width, deep in zip(sizes, sizes[1:] + [4]):
    # The same on all ranks, and gradients that differ.
    same = np.random.default_rng(width)
    variables += [tf.Variable(same.normal(size=(width, deep)).astype("f")), tf.Variable(np.zeros(deep, "f"))]
x = tf.constant(rng.normal(size=(6, sizes[0])).astype("f"))

def loss(x):
    for w, b in zip(variables[::2], variables[1::2]):
        x = tf.tanh(x @ w + b)
    return tf.reduce_sum(x * x)

def step(name, reduce):
    def body(x):
        with tf.GradientTape() as tape:
            value = loss(x)
        return reduce(tape.gradient(value, variables))
    body.__name__ = name
    out = [t.numpy() for t in tf.function(body)(x)]
    return [o.tobytes() for o in out]

def runs():
    told = {f["name"].split("_inference_")[-1].rsplit("_", 1)[0]: f for f in handle.report()}
    return {name: [f["collectives"], f["segments"]] for name, f in told.items()}
"""

BITS = (
    STEP
    + """
reduce = npu.distribute.all_reduce
alone = step("alone", lambda g: reduce(g, "sum", fusion=0))
assert step("default", lambda g: reduce(g, "sum")) == alone
set_split_strategy_by_idx([2, 9])
assert step("by_index", lambda g: reduce(g, "sum")) == alone
set_split_strategy_by_size([60, 20, 20])
assert step("by_size", lambda g: reduce(g, "sum")) == alone
assert step("by_number", lambda g: [reduce(t, "sum", fusion=2, fusion_id=i % 2) for i, t in enumerate(g)]) == alone
assert step("in_graph", lambda g: [hccl_ops.allreduce(t, "sum") for t in g]) == alone
assert step("mean", reduce) == step("mean_alone", lambda g: reduce(g, fusion=0))
assert step("largest", lambda g: reduce(g, "max")) != alone
several = lambda g: hccl_ops.broadcast(g, 1)
assert step("broadcast", several) == step("one_by_one", lambda g: [hccl_ops.broadcast([t], 1, fusion=0)[0] for t in g])
for name, fusion, number in (("reduced", 2, 3), ("reduced_alone", 0, -1)):
    bits = step(name, lambda g: [hccl_ops.reduce(t, "sum", 1, fusion, number) for t in g])
    assert (bits == alone) == (rank == 1)
doubled = lambda g: [reduce(t, "sum") for t in [*g[:3], *[tf.cast(t, tf.float16) for t in g[:3]]]]
assert step("two_types", doubled)[:3] == alone[:3]
waits = lambda g: (lambda first: reduce([t * tf.reduce_sum(first[0]) for t in g]))(reduce(g, "sum"))
assert len(step("twice", waits)) == 24
print("RUNS", json.dumps(runs()), flush=True)
"""
)

OPEN = HEAD.replace("npu.open().as_default()", "npu.global_options().hcom_parallel = PARALLEL\n"
                    "handle = npu.open().as_default()")  # fmt: skip


def opened(parallel=True):
    return OPEN.replace("PARALLEL", str(parallel))


def seen(output):
    return json.loads(output.split("RUNS ")[1].splitlines()[0])


def log_lines(folder):
    return "\n".join(path.read_text() for path in folder.rglob("*.log"))


@pytest.fixture
def watched(tmp_path, monkeypatch):
    """The log is written and nothing is taken from what an earlier process has compiled."""
    for name, value in {
        "ASCEND_PROCESS_LOG_PATH": str(tmp_path / "log"),
        "ASCEND_GLOBAL_LOG_LEVEL": "1",
        "ANYNPU_COMPILE_CACHE": "enable",
        "ASCEND_CACHE_PATH": str(tmp_path / "kept"),
    }.items():
        monkeypatch.setenv(name, value)
    return tmp_path


def test_what_goes_together_keeps_its_bits(watched, monkeypatch):
    for name, value in {
        "DUMP_GE_GRAPH": "1",
        "DUMP_GRAPH_LEVEL": "1",
        "DUMP_GRAPH_PATH": str(watched / "graphs"),
    }.items():
        monkeypatch.setenv(name, value)
    outputs = together(opened() + BITS, watched)
    first, second = map(seen, outputs)
    assert first == second
    count = {name: told[0] for name, told in first.items()}
    wanted = {"alone": GRADIENTS, "default": 2, "by_index": 3, "by_size": 3, "by_number": 2, "in_graph": 3,
              "mean": 3, "mean_alone": GRADIENTS, "largest": GRADIENTS, "broadcast": 1, "one_by_one": GRADIENTS,
              "reduced": 1, "reduced_alone": GRADIENTS, "two_types": 6, "twice": 6}  # fmt: skip
    assert {name: count[name] for name in wanted} == wanted
    lines = re.findall(r"segment result: (.*)", log_lines(watched / "log"))
    index = "group hccl_world_group, float32: segment index list: [0,2] [3,9] [10,23]"
    assert first["by_index"][1] == [index] and lines.count(index) == 2  # each rank tells it
    assert first["alone"][1] == []
    # The dump has them under the vendor's name, with what was asked for.
    graphs = "\n".join(path.read_text() for path in (watched / "graphs").rglob("ge_proto*.txt"))
    for text in ('type: "HcomAllReduce"', 'type: "HcomBroadcast"', 'key: "fusion"', 'key: "fusion_id"'):
        assert text in graphs


def test_a_kept_function_tells_its_segments_again(watched):
    script = (
        opened()
        + STEP
        + """
step("kept", npu.distribute.all_reduce)
[told] = [f for f in handle.report() if "_kept_" in f["name"]]
print("RUNS", json.dumps([told["cache"], told["segments"]]), flush=True)
"""
    )
    first, second = ([seen(output) for output in together(script, watched)] for _ in range(2))
    assert any(cache.startswith("miss") for cache, _ in first)
    assert all(cache.startswith("hit") for cache, _ in second)
    assert [segments for _, segments in first + second] == [[DEFAULT]] * 4
    assert log_lines(watched / "log").count("segment result") == 4


REFUSED = """
from hccl.manage.api import create_group
from hccl.split.api import set_split_strategy_by_idx, set_split_strategy_by_size

if rank == 0:
    create_group("first", 1, [0])
    set_split_strategy_by_idx([3], "first")
else:
    raised(ValueError, "set split strategy by idx error | no group 'first'",
           lambda: set_split_strategy_by_idx([3], "first"))
for wrong, text in (([], "a list of 1 to 8"), ((1, 2), "it is a list"), (list(range(9)), "a list of 1 to 8"),
                    ([3, 3], "the numbers ascend"), ([-1, 3], "has -1"), ([1.5], "has 1.5"), ([True], "has True")):
    raised(ValueError, f"set split strategy by idx error | {text}", lambda: set_split_strategy_by_idx(wrong))
for wrong, text in (([], "it is a list of 1 to 8"), ([60, 30], "90 together"), ([-10, 110], "has -10"),
                    ([12.5] * 9, "it is a list of 1 to 8"), (["100"], "has '100'"), ([float("nan")], "has nan")):
    raised(ValueError, f"set split strategy by size error | {text}", lambda: set_split_strategy_by_size(wrong))
raised(ValueError, "group is ''", lambda: set_split_strategy_by_size([100], ""))
x = tf.ones([3])
raised(ValueError, "fusion is 1 and fusion_id 4; it is -1 there", lambda: npu.distribute.all_reduce(x, fusion_id=4))
raised(ValueError, "fusion is 2 and fusion_id -1", lambda: hccl_ops.allreduce(x, "sum", fusion=2))
raised(ValueError, "fusion is 1; it is one of 0, 2", lambda: hccl_ops.reduce(x, "sum", 0, fusion=1))
"""


def test_what_makes_no_sense_is_refused(tmp_path):
    together(HEAD + REFUSED, tmp_path)


TRAINED = """
import time
from hccl.split.api import set_split_strategy_by_idx

set_split_strategy_by_idx([3, 11])
tf.keras.utils.set_random_seed(3)
layers = [tf.keras.layers.Dense(48, "tanh") for _ in range(8)]
model = tf.keras.Sequential([tf.keras.Input((16,)), *layers, tf.keras.layers.Dense(3)])
model.compile(npu.distribute.npu_distributed_keras_optimizer_wrapper(tf.keras.optimizers.Adam(0.01)),
              tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
x = np.random.default_rng(rank).normal(size=(96, 16)).astype("f")
model.fit(x, np.arange(96) % 3, batch_size=8, epochs=2, verbose=0, shuffle=False)
[told] = [f for f in handle.report() if f["segments"]]
weights = [w.tolist() for w in model.get_weights()]
print("RUNS", json.dumps([told["collectives"], told["beside"] > 0, told["segments"], weights]), flush=True)
"""


def test_sums_beside_the_backward_pass_train_to_the_same_bits(tmp_path, monkeypatch):
    monkeypatch.setenv("ANYNPU_THREADS", "2")  # with one there is nothing to win, and they keep their places
    beside = [seen(output) for output in together(opened() + TRAINED, tmp_path)]
    inside = [seen(output) for output in together(opened(False) + TRAINED, tmp_path)]
    assert beside[0] == beside[1] and inside[0] == inside[1]
    assert beside[0][:2] == [3, True] and inside[0][:2] == [3, False]
    assert beside[0][2:] == inside[0][2:]


LOST = """
@tf.function
def step(x):
    summed = npu.distribute.all_reduce([x + i for i in range(4)], "sum")
    for _ in range(8):
        x = tf.tanh(x @ x)
    return summed[0] + x

x = tf.ones([64, 64])
print("met", step(x).numpy()[0, 0] > 0, flush=True)
if rank == 1:
    sys.stdin.read()  # until it is killed
try:
    step(x)
except tf.errors.OpError as error:
    print("HEARD", type(error).__name__, error, flush=True)
"""


def test_a_fault_beside_other_nodes_reaches_who_waits(tmp_path, monkeypatch):
    monkeypatch.setenv("ANYNPU_THREADS", "2")
    path = table(tmp_path, [0, 1])
    script = "import os\nrank = int(os.environ['RANK_ID'])\n" + opened() + LOST
    ranks = [start(script, RANK_TABLE_FILE=path, RANK_ID=str(i), RANK_SIZE="2") for i in range(2)]
    for line in iter(ranks[1].stdout.readline, "met True\n"):
        assert line, "rank 1 has ended"
    ranks[1].kill()
    output = ranks[0].communicate(timeout=60)[0]
    ranks[1].communicate()
    assert ranks[0].returncode == 0 and "HEARD" in output and "rank 1" in output.split("HEARD")[1], output


ORDERS = """
@tf.function
def step(x):
    summed = npu.distribute.all_reduce([x + i for i in range(4)], "sum", fusion=2, fusion_id=1)
    most = npu.distribute.all_reduce(summed[1], "max" if rank == 1 else "min")
    for _ in range(8):
        x = tf.tanh(x @ x)
    return summed[0] + x + most

raised(tf.errors.OpError, "EI0005: the collectives of function | step | differ between ranks, at #5 of group",
       lambda: step(tf.ones([64, 64])))
"""


def test_orders_are_compared_beside_other_nodes(tmp_path, monkeypatch):
    monkeypatch.setenv("ANYNPU_THREADS", "2")
    together(opened() + ORDERS, tmp_path)


SESSION = """
import warnings
warnings.simplefilter("ignore")
import numpy as np
from npu_bridge.npu_init import *
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
set_split_strategy_by_size([50, 50])
x = tf.placeholder(tf.float32, [None, 8])
y = x
for i in range(4):
    y = tf.tanh(tf.matmul(y, tf.get_variable(f"w{i}", initializer=np.full([8, 8], 0.1 + i / 9, np.float32))))
gradients = tf.gradients(tf.reduce_sum(y), tf.trainable_variables())
fused, alone = npu_allreduce(gradients, "sum"), npu_allreduce(gradients, "sum", fusion=0)
config = npu_config_proto(config_proto=tf.ConfigProto())
with tf.Session(config=config) as session:
    session.run(tf.global_variables_initializer())
    fed = {x: np.random.RandomState(rank).randn(6, 8)}
    first, second = session.run(fused, fed), session.run(alone, fed)
assert [a.tobytes() for a in first] == [b.tobytes() for b in second]
"""


def test_gradients_of_sessions_go_together(watched):
    together(SESSION, watched)
    told = "segment result: group hccl_world_group, float32: segment index list: [0,1] [2,3]"
    assert log_lines(watched / "log").count(told) == 2
