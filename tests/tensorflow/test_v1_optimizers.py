# SPDX-License-Identifier: Apache-2.0
"""The optimizers of TensorFlow 1 that average gradients, in a process that trains alone."""

import v1_process

TRAIN = """
from npu_bridge.estimator.npu.npu_optimizer import (
    NPUDistributedOptimizer, NPUOptimizer, npu_allreduce, npu_distributed_optimizer_wrapper, npu_tf_optimizer)

batches = np.random.default_rng(1).normal(size=(4, 8, 4)).astype("float32")
FOLDER = os.path.dirname(os.path.abspath(__file__))

def run(wrap, save=None, load=None):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [8, 4])
        w = tf.get_variable("w", [4, 2], initializer=tf.glorot_uniform_initializer(3))
        step = tf.train.get_or_create_global_step()
        optimizer = wrap(tf.train.AdamOptimizer(0.1))
        train = optimizer.minimize(tf.reduce_mean(tf.square(x @ w - 1)), global_step=step)
        checkpoint = tf.train.Checkpoint(optimizer=optimizer, w=w, step=step)
        session.run(tf.global_variables_initializer())
        if load:
            checkpoint.restore(load).assert_consumed().run_restore_ops(session)
        for batch in batches:
            session.run(train, {x: batch})
        slots = [optimizer.get_slot(w, name) for name in optimizer.get_slot_names()]
        assert len(slots) == 2 and optimizer._beta1 == 0.9  # what is not there is asked of the one inside
        path = checkpoint.save(os.path.join(FOLDER, save), session=session) if save else None
        values = session.run([w, step, *slots, *optimizer.variables()])
        return values, [v.name for v in tf.global_variables()], optimizer.get_name(), path

def same(one, other):
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)

plain, names, _, path = run(lambda inner: inner, save="plain")
further = run(lambda inner: inner, load=path)[0]
assert np.abs(further[0] - plain[0]).max() > 1e-3
for wrap, name in ((NPUDistributedOptimizer, "DistributedAdamOptimizer"),
                   (npu_tf_optimizer, "DistributedAdamOptimizer"),
                   (lambda inner: NPUDistributedOptimizer(inner, True, "mine"), "mine"),
                   (lambda inner: NPUOptimizer(inner, is_distributed=True), "NPUOptimizerAdamOptimizer"),
                   (NPUOptimizer, "NPUOptimizerAdamOptimizer"), (npu_distributed_optimizer_wrapper, "Adam")):
    ours, our_names, our_name, our_path = run(wrap, save="ours")
    same(ours, plain)
    assert our_names == names and our_name == name, (our_names, our_name)
    same(run(wrap, load=path)[0], further)  # checkpoints of one are read by the other
    same(run(lambda inner: inner, load=our_path)[0], further)

inner = tf.train.AdamOptimizer(0.1)
assert npu_distributed_optimizer_wrapper(inner) is inner
values = [tf.constant(1.0), tf.IndexedSlices(tf.ones([1, 2]), tf.constant([0]))]
assert npu_allreduce(values) is values and npu_allreduce(values[0], "sum") is values[0]
raised(ValueError, "reduction is 'most' | mean", lambda: npu_allreduce(values, "most"))
raised(ValueError, "takes an optimizer of tf.train", lambda: NPUDistributedOptimizer("adam"))
os.environ["RANK_SIZE"] = "2"
wanted = "the 2 processes cannot meet | RANK_TABLE_FILE"
raised(RuntimeError, wanted, lambda: npu_allreduce(values))
w = tf.get_variable("w", [2])
for optimizer in (NPUDistributedOptimizer(inner), NPUOptimizer(inner, is_distributed=True),
                  npu_distributed_optimizer_wrapper(inner)):
    raised(RuntimeError, wanted, lambda: optimizer.minimize(tf.reduce_sum(w)))
"""


def test_alone_they_train_as_the_optimizer_inside(tmp_path):
    errors = v1_process.run(tmp_path, "tf.logging.set_verbosity(tf.logging.INFO)\n" + TRAIN)[1]
    assert errors.count("INFO:tensorflow:Skip all reduce as current process is not npu cluster worker") == 1, errors[
        -2000:
    ]


KERAS = """
from npu_bridge.estimator.npu.npu_optimizer import (
    KerasDistributeOptimizer, npu_distributed_optimizer_wrapper, npu_keras_optimizer)

rng = np.random.default_rng(1)
x, y = rng.normal(size=(32, 4)).astype("float32"), rng.normal(size=(32, 1)).astype("float32")
K = tf.keras

class Rates(K.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        K.backend.set_value(self.model.optimizer.lr, 0.05 / (epoch + 1))

def run(optimizer):
    start = K.initializers.glorot_uniform
    model = K.Sequential([K.layers.Dense(4, "tanh", kernel_initializer=start(2), input_shape=(4,)),
                          K.layers.Dense(1, kernel_initializer=start(3))])
    model.compile(optimizer, "mse")
    model.fit(x, y, batch_size=8, epochs=2, shuffle=False, verbose=0, callbacks=[Rates()])
    assert K.backend.get_value(model.optimizer.iterations) == 8
    return model.get_weights(), model.optimizer

def adam():
    return K.optimizers.legacy.Adam(0.05, epsilon=1e-3)

plain, inner = run(adam())
state = [K.backend.get_value(v) for v in inner.weights]
for optimizer in (KerasDistributeOptimizer(adam()), npu_keras_optimizer(K.optimizers.Adam(0.05, epsilon=1e-3)),
                  npu_distributed_optimizer_wrapper(adam()),
                  KerasDistributeOptimizer.from_config(KerasDistributeOptimizer(adam()).get_config())):
    ours, used = run(optimizer)
    assert used is optimizer
    for a, b in zip(ours + [K.backend.get_value(v) for v in optimizer.weights], plain + state, strict=True):
        np.testing.assert_array_equal(a, b)
by_name = KerasDistributeOptimizer("sgd", name="mine")
by_name.learning_rate = 0.25
assert K.backend.get_value(by_name.lr) == 0.25 and by_name.get_config()["name"] == "mine"
assert isinstance(npu_distributed_optimizer_wrapper("adam"), K.optimizers.legacy.Adam)
raised(ValueError, "use NPUDistributedOptimizer", lambda: KerasDistributeOptimizer(tf.train.AdamOptimizer()))
os.environ["RANK_SIZE"] = "2"
raised(RuntimeError, "the 2 processes cannot meet", lambda: run(npu_distributed_optimizer_wrapper(adam())))
"""


def test_keras_in_a_graph_trains_as_with_the_optimizer_inside(tmp_path):
    v1_process.run(tmp_path, KERAS)
