# SPDX-License-Identifier: Apache-2.0
"""Estimators, hooks and sessions in the style of TensorFlow 1, as scripts use them: results are TensorFlow's own."""

import re

import fresh
import pytest
import tensorflow
from npu_bridge.estimator.npu import npu_callbacks, npu_common, npu_hook, npu_plugin, npu_session
from npu_bridge.hccl import hccl_ops, split

pytestmark = pytest.mark.usefixtures("nothing_said")

HEAD = """
import numpy as np
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
from npu_bridge.npu_init import npu_config_proto
from npu_bridge.estimator.npu.npu_config import *
from npu_bridge.estimator.npu.npu_estimator import *
from npu_bridge.estimator.npu.npu_hook import *
from npu_bridge.estimator.npu.npu_session import *
from npu_device.session import iterations
tf.logging.set_verbosity(tf.logging.INFO)

def model(make_spec, **more):
    def model_fn(features, labels, mode, params):
        y = tf.layers.dense(features["x"], 1, name="d")
        if mode == tf.estimator.ModeKeys.PREDICT:
            output = tf.estimator.export.PredictOutput({"y": y})
            return make_spec(mode, predictions={"y": y}, export_outputs={"serving_default": output})
        loss = tf.losses.mean_squared_error(labels, y)
        train_op = tf.train.GradientDescentOptimizer(params["rate"]).minimize(loss, tf.train.get_global_step())
        others = {name: make(loss) for name, make in more.items()}
        metrics = {"mean": tf.metrics.mean(y)}
        return make_spec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics, **others)
    return model_fn

def data():
    x = np.random.RandomState(0).rand(64, 3).astype("f")
    y = x.sum(1, keepdims=True)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).batch(8, drop_remainder=True).repeat()

def receiver():
    x = tf.placeholder(tf.float32, [None, 3])
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})
"""
PLAIN = """
def trained(estimator):
    estimator.train(data, steps=20)
    found = estimator.evaluate(data, steps=3)
    return found, [next(estimator.predict(data))["y"] for _ in range(2)]

theirs = tf.estimator.Estimator(model(tf.estimator.EstimatorSpec), "theirs",
                                tf.estimator.RunConfig(tf_random_seed=1), {"rate": 0.1})
config = NPURunConfig(model_dir="ours", tf_random_seed=1, save_checkpoints_steps=10, log_step_count_steps=5,
                      session_config=tf.ConfigProto(log_device_placement=False))
ours = NPUEstimator(model(NPUEstimatorSpec), "ours", config, {"rate": 0.1})
assert [one.name for one in ours._session_config.graph_options.rewrite_options.custom_optimizers] == ["NpuOptimizer"]
(a, p), (b, q) = trained(theirs), trained(ours)
assert a["global_step"] == b["global_step"] == 20
np.testing.assert_allclose([a["loss"], a["mean"]], [b["loss"], b["mean"]], rtol=1e-4)
np.testing.assert_allclose(p, q, rtol=1e-4)
assert ours.latest_checkpoint().endswith("model.ckpt-20") and os.path.exists("ours/model.ckpt-10.index")

saved = ours.export_saved_model("export", receiver)
with tf.Session(graph=tf.Graph()) as sess:
    loaded = tf.saved_model.load(sess, ["serve"], saved)
    io = loaded.signature_def["serving_default"]
    y = sess.run(io.outputs["y"].name, {io.inputs["x"].name: [[1.0, 0.0, 0.0]]})
weights = ours.get_variable_value("d/kernel"), ours.get_variable_value("d/bias")
np.testing.assert_allclose(y[0], weights[0][0] + weights[1], rtol=1e-5)

# A model of two processes' form, with its hooks; it starts from what was trained, and ends at max_steps.
tail = NPUEstimator(model(NPUEstimatorSpec), "tail", npu_run_config_init(tf.estimator.RunConfig(tf_random_seed=1)),
                    {"rate": 0.0}, warm_start_from="ours")
tail.train(data, max_steps=3, hooks=npu_hooks_append([NpuEmptyHook()]))
np.testing.assert_allclose(tail.get_variable_value("d/kernel"), weights[0])
both = tf.estimator.train_and_evaluate(tail, tf.estimator.TrainSpec(data, max_steps=5, hooks=npu_hooks_append()),
                                       tf.estimator.EvalSpec(data, steps=2))
assert both[0]["global_step"] == 5
raised(TypeError, "is no tf.estimator.RunConfig", lambda: NPUEstimator(model(NPUEstimatorSpec), config="ours"))
raised(ValueError, "model_fn should return an EstimatorSpec",
       lambda: NPUEstimator(lambda features, labels, mode: None, "none").train(data, steps=1))
n, _ = told("job_start_file has no effect", lambda: NPUEstimator(model(NPUEstimatorSpec), "job", job_start_file="a"))
assert n == 1
"""
LOOPED = """
class Seen(tf.train.SessionRunHook):
    def after_run(self, context, values):
        seen.append(dict(getattr(context.session.graph, iterations.TABLE)))

def host(step, loss):
    import tensorflow
    with tensorflow.summary.create_file_writer("host", max_queue=100).as_default(), tensorflow.summary.record_if(True):
        tensorflow.summary.scalar("host_loss", loss, step=step)
        return tf.summary.all_v2_summary_ops()

def host_call(loss):
    return host, {"step": tf.train.get_global_step(), "loss": loss}

class AtTheEnd(tf.train.SessionRunHook):
    def end(self, session):  # before the session ends, which writes out everything
        values.extend(v for f in os.listdir("host") for e in tf.train.summary_iterator("host/" + f)
                      for v in e.summary.value)

seen, values = [], []
config = NPURunConfig(iterations_per_loop=4, precision_mode="must_keep_origin_dtype", save_checkpoints_steps=5)
made = model(NPUEstimatorSpec, host_call=host_call, training_hooks=lambda loss: [AtTheEnd()])
looped = NPUEstimator(made, "looped", config, {"rate": 0.1})
keys = npu_optimizer_of(looped._session_config).parameter_map
assert keys["iterations_per_loop"].i == 4 and keys["precision_mode"].s == b"must_keep_origin_dtype"
outputs = []
output = NPUOutputTensorHook(["d/bias:0"], "global_step", outputs.append, output_every_n_steps=4)
looped.train(data, steps=10, hooks=[Seen(), output])
last = looped.get_variable_value("global_step")
assert (last, len(seen)) == (10, 3), "4 steps, 4 and the 2 that are left"
assert {name for one in seen for name in one} == {"npu_iterations"} and seen[0] == {"npu_iterations": 4}
sizes = [len(one) for one in outputs]
assert set(sizes[:-1]) <= {4} and sum(sizes) == len(seen) and list(outputs[0][0]) == ["d/bias:0"]
assert len(values) >= len(seen) and {v.tag for v in values} == {"host_loss"}
n = len(seen)
looped.train(data, max_steps=int(last) + 2, hooks=[Seen()])
assert seen[n]["npu_iterations"] == 2, "no more than is left"

for wrong in (host, (host,), ("host", []), (host, 3)):
    raised(ValueError, "host_call", lambda: NPUEstimatorSpec("train", loss=tf.constant(1.0), train_op=tf.no_op(),
                                                             host_call=wrong))
"""


def test_an_estimator_trains_as_tensorflows(tmp_path):
    _, log = fresh.run(tmp_path, HEAD + PLAIN)
    steps = [int(step) for step in re.findall(r"global_step\.\.\.(\d+)", log)]
    assert steps[:20] == list(range(1, 21)), "every step, once"
    assert re.search(r"NPUCheckpointSaverHook end\.\.\.", log)
    assert re.search(r"NPUBroadcastGlobalVariablesHook run\.\.\.", log)
    assert log.count("Graph was finalized") == log.count("INFO:tensorflow:Graph was finalized") < 12


def test_an_estimator_in_loops_with_a_host_call(tmp_path):
    _, log = fresh.run(tmp_path, HEAD + LOOPED)
    assert re.search(r"load iterations_per_loop value 4 -{10,}", log)


def test_sessions_of_migrated_scripts(tmp_path):
    fresh.run(
        tmp_path,
        """
import tensorflow as tf
from npu_bridge.npu_init import init_resource, npu_hooks_append, shutdown_resource, close_session
before = len(tf.compat.v1.get_default_graph().get_operations())
npu_sess, npu_shutdown = init_resource()
from npu_device import device
assert device.is_open() and len(tf.compat.v1.get_default_graph().get_operations()) == before
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
from npu_bridge.npu_init import experimental_options, get_npu_rank_size, model_to_npu_estimator, npu_callbacks_append
from npu_bridge.npu_init import npu_clear_session, npu_config_proto, npu_strategy, set_keras_session_npu_config
from npu_bridge.estimator.npu.npu_config import NPURunConfig
import numpy as np

# Horovod's form: a monitored session with hooks.
w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
step = tf.train.get_or_create_global_step()
loss = tf.reduce_sum(w * w)
train_op = tf.train.GradientDescentOptimizer(0.1 * get_npu_rank_size()).minimize(loss, step)
hooks = npu_hooks_append([tf.train.StopAtStepHook(3)])
with tf.train.MonitoredTrainingSession(checkpoint_dir="monitored", hooks=hooks, config=npu_config_proto()) as sess:
    while not sess.should_stop():
        sess.run(train_op)
np.testing.assert_allclose(tf.train.load_checkpoint("monitored").get_tensor("w"), [0.8**3] * 2, rtol=1e-6)

# Keras in a session.
sess = set_keras_session_npu_config()
K = tf.keras.backend
assert K.get_session() is sess
assert [one.name for one in sess._config.graph_options.rewrite_options.custom_optimizers] == ["NpuOptimizer"]
x = np.random.RandomState(0).rand(32, 4).astype("f")
y = x.sum(1, keepdims=True)

def network():
    net = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones", input_shape=(4,))])
    net.compile(tf.keras.optimizers.SGD(0.01), "mse")
    return net

net = network()
net.fit(x, y + 1, epochs=2, verbose=0, callbacks=npu_callbacks_append([]), batch_size=8)
assert net.evaluate(x, y + 1, verbose=0) < 1.0
npu_clear_session()
assert K.get_session() is not sess
close_session(sess)

net = network()
net.set_weights([np.ones([4, 1], "f"), np.ones([1], "f")])  # there is nothing left to learn
estimator = model_to_npu_estimator(net, model_dir="keras", config=NPURunConfig(save_checkpoints_steps=2))
name = estimator.config.session_config.graph_options.rewrite_options.custom_optimizers[0].name
assert name == "NpuOptimizer" and type(estimator).__name__ == "NPUEstimator"
estimator.train(lambda: tf.data.Dataset.from_tensors((x, y + 1)).repeat(), steps=4)
found = estimator.evaluate(lambda: tf.data.Dataset.from_tensors((x, y + 1)), steps=1)
assert found["loss"] < 1e-9 and found["global_step"] == 4, found

# A strategy in place of MirroredStrategy.
strategy = npu_strategy.NPUStrategy()
assert isinstance(strategy, tf.distribute.Strategy) and strategy.num_replicas_in_sync == 1
run = tf.estimator.RunConfig(train_distribute=strategy, session_config=npu_config_proto())

def model_fn(features, labels, mode):
    value = tf.get_variable("v", [], initializer=tf.ones_initializer())
    loss = tf.square(value - labels)[0]
    train = tf.train.GradientDescentOptimizer(0.25).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)

chosen = tf.estimator.Estimator(model_fn, "strategy", run)
chosen.train(lambda: tf.data.Dataset.from_tensors(([0.0], [3.0])).repeat(), steps=2)
assert chosen.get_variable_value("v") == 2.5

tf.config.optimizer.set_experimental_options(experimental_options)
assert tf.config.optimizer.get_experimental_options()["remapping"] is False
shutdown_resource(npu_sess, npu_shutdown)
close_session(npu_sess)
raised(RuntimeError, "closed", lambda: npu_sess.run(npu_shutdown))
""",
    )


def test_hooks_refuse_what_makes_no_sense():
    with pytest.raises(ValueError, match="takes step and total_step, or loss and final_loss"):
        npu_hook.TellMeStepOrLossHook(step=1)
    with pytest.raises(ValueError, match="takes step and total_step, or loss and final_loss"):
        npu_hook.TellMeStepOrLossHook(1, 2, 3, 4)
    with pytest.warns(UserWarning, match="TellMeStepOrLossHook has no effect: types do not change") as told:
        npu_hook.TellMeStepOrLossHook(step=1, total_step=2)
        npu_hook.TellMeStepOrLossHook(loss=1, final_loss=2)
    assert len(told) == 1
    for wrong in (0, 1.5, "many"):
        with pytest.raises(ValueError, match="iterations_per_loop is .*; it is a whole number above 0"):
            npu_hook.SetIterationsVarHook(wrong)
    npu_hook.SetIterationsVarHook()
    with pytest.raises(ValueError, match="output_every_n_steps is -1"):
        npu_hook.NPUOutputTensorHook([], output_every_n_steps=-1)


def test_a_process_that_trains_alone(monkeypatch):
    for name in ("RANK_ID", "RANK_SIZE", "RANK_TABLE_FILE", "CM_WORKER_SIZE"):
        monkeypatch.delenv(name, raising=False)
    assert (npu_common.get_npu_rank_id(), npu_common.get_npu_rank_size()) == (0, 1)
    assert (npu_common.get_npu_local_rank_id(), npu_common.get_npu_local_rank_size()) == (0, 1)
    (callback,) = npu_callbacks.npu_callbacks_append()
    assert isinstance(callback, npu_callbacks.NPUBroadcastGlobalVariablesCallback) and not callback.broadcast_done
    callback.on_train_batch_begin(0)
    assert callback.broadcast_done
    assert hccl_ops.allreduce("x", "sum") == hccl_ops.allgather("x", 1) == hccl_ops.reduce("x", "max", 0) == "x"
    assert hccl_ops.reduce_scatter("x", "sum", 1) == "x" and hccl_ops.broadcast(("x", "y"), 0) == ["x", "y"]
    assert hccl_ops.broadcast(tensor=["x"], root_rank=0) == ["x"], "as older scripts call it"
    for wrong in ({"root_rank": 0}, {"tensor": ["x"]}, {"tensor": ["x"], "tensor_list": ["x"], "root_rank": 0}):
        with pytest.raises(TypeError, match="needs tensor_list"):
            hccl_ops.broadcast(**wrong)
    assert hccl_ops.allreduce("x", "max") == "x"
    with pytest.raises(ValueError, match="reduction is 'mean'; it is one of max, min, prod, sum"):
        hccl_ops.allreduce("x", "mean")
    with pytest.raises(ValueError, match="fusion is 2 and reduction 'max'; only sums are sent together"):
        hccl_ops.reduce("x", "max", 0, fusion=2)
    with pytest.raises(ValueError, match="fusion is 1; it is one of 0, 2"):
        hccl_ops.broadcast([], 0, fusion=1)
    with pytest.raises(ValueError, match="allgather: rank_size is 2, and this process trains alone"):
        hccl_ops.allgather("x", 2)
    between = {
        "send": ("x", 0, 1), "receive": ([1], "float32", 0, 1), "remote_read": ("x", "float32"),
        "remote_ref_read": ("x", "x", 0), "remote_write": ("x", "x", "float32"), "remote_scatter_write": ("x", "x", 0),
        "gather_all_to_all_v": ("x",) * 6, "all_to_all_v": ("x",) * 5, "all_to_all_v_c": ("x", "x", 0),
    }  # fmt: skip
    for name, arguments in between.items():
        with pytest.raises(NotImplementedError, match=f"hccl_ops.{name} is between two processes, and this one trains"):
            getattr(hccl_ops, name)(*arguments)


def test_one_of_several_processes_hears_what_is_missing(monkeypatch):
    monkeypatch.setenv("RANK_SIZE", "4")
    monkeypatch.setenv("RANK_ID", "2")
    monkeypatch.delenv("RANK_TABLE_FILE", raising=False)
    assert (npu_common.get_npu_rank_id(), npu_common.get_npu_rank_size()) == (2, 4)
    with pytest.raises(RuntimeError, match="the 4 processes cannot meet: .*RANK_TABLE_FILE"):
        hccl_ops.allreduce("x", "sum")
    with tensorflow.Graph().as_default(), pytest.raises(RuntimeError, match="the 4 processes cannot meet: .*TABLE"):
        tensorflow.compat.v1.get_variable("v", [1])
        npu_hook.NPUBroadcastGlobalVariablesHook(0, 2).begin()
    with pytest.raises(RuntimeError, match="the 4 processes cannot meet: .*RANK_TABLE_FILE"):
        hccl_ops.send("x", 0, 1)


def test_what_is_set_and_has_nothing_to_do():
    with pytest.warns(UserWarning, match="the split of gradients has no effect") as told:
        split.set_split_strategy_by_idx([3, 7])
        split.set_split_strategy_by_size([60, 40])
    assert len(told) == 1
    for wrong in ([], [3, 3], list(range(9))):
        with pytest.raises(ValueError, match="idxList is"):
            split.set_split_strategy_by_idx(wrong)
    with pytest.raises(ValueError, match="dataSizeList is"):
        split.set_split_strategy_by_size([60, 30])
    with pytest.warns(UserWarning, match="init_rdma_pool has no effect"):
        npu_plugin.init_rdma_pool(1 << 20)
    with pytest.raises(ValueError, match="mem_size is 0"):
        npu_plugin.init_rdma_pool(0)
    assert npu_plugin.is_inf_nan_enabled() in (True, False) and callable(npu_plugin.set_device_sat_mode)
    assert npu_session.experimental_options["remapping"] is False
