# SPDX-License-Identifier: Apache-2.0
"""What the vendor's adapter adds to TensorFlow's API: operators, scopes, functions for several workers."""

import npu_device as npu
import numpy as np
import pytest
import tensorflow as tf
from npu_device.distribute.hccl import npu_callbacks_append
from npu_device.distribute.npu_callbacks import broadcast_keras_model, npu_broadcast_scope_wrapper
from npu_device.train.npu_convert import npu_convert_api


def values(*shape, dtype="float32"):
    return np.random.default_rng(0).normal(size=shape).astype(dtype) * 3


# float32: a few units in the last place of results up to 9; float16: half a unit of what is rounded once.
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 2e-6), ("float16", 5e-3)])
def test_gelu_is_the_approximation_inside_functions(dtype, tolerance):
    x = values(5, 7, dtype=dtype)

    @tf.function
    def both(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = npu.ops.gelu(x)
        return y, tape.gradient(y, x)

    y, slope = (t.numpy() for t in both(tf.constant(x)))
    wide = x.astype("float64")
    sigmoid = 1 / (1 + np.exp(-1.702 * wide))
    assert y.dtype == slope.dtype == dtype
    np.testing.assert_allclose(y, wide * sigmoid, rtol=0, atol=tolerance)
    np.testing.assert_allclose(slope, sigmoid + wide * 1.702 * sigmoid * (1 - sigmoid), rtol=0, atol=tolerance)
    assert not [f for f in npu.open().report() if "both" in f["name"] and f["host_nodes"]]


def test_gelu_is_tensorflows_where_operators_run_one_by_one():
    x = tf.constant(values(4))
    np.testing.assert_array_equal(npu.ops.gelu(x), tf.nn.gelu(x))


@pytest.mark.parametrize("shape", [(300,), (8, 16), (0, 3), ()])
def test_dropout_by_a_mask_of_bits(shape):
    x, keep = tf.constant(np.ones(shape, "float32")), tf.constant(0.75)

    @tf.function
    def dropped(x):
        mask = npu.gen_npu_ops.drop_out_gen_mask(tf.shape(x), keep, seed=3, seed2=4)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = npu.gen_npu_ops.drop_out_do_mask(x, mask, keep)
        return mask, y, tape.gradient(y, x)

    count = int(np.prod(shape))
    (mask, y, slope), (again, *_) = dropped(x), dropped(x)
    assert mask.shape == [(count + 127) // 128 * 16] and mask.dtype == tf.uint8
    bits = np.unpackbits(mask.numpy(), bitorder="little")[:count].reshape(shape)
    np.testing.assert_array_equal(y, np.where(bits, np.float32(1 / 0.75), 0))
    np.testing.assert_array_equal(slope, y)
    assert count < 100 or (mask.numpy() != again.numpy()).any(), "every run draws its own"


def test_dropout_keeps_the_share_asked_for():
    mask = npu.gen_npu_ops.drop_out_gen_mask(tf.constant([1 << 17]), tf.constant(0.9), seed=1)
    kept = np.unpackbits(mask.numpy()).mean()
    assert abs(kept - 0.9) < 5 * (0.9 * 0.1 / (1 << 17)) ** 0.5  # five deviations


def test_dropout_refuses_what_no_probability_is():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"keep_prob is 1\.5; it lies above 0 and not above 1"):
        npu.gen_npu_ops.drop_out_gen_mask(tf.constant([4]), tf.constant(1.5))


def test_the_cpu_has_no_kernel_of_these():
    with tf.device("CPU"), pytest.raises((tf.errors.NotFoundError, tf.errors.InvalidArgumentError)):
        npu.gen_npu_ops.fast_gelu(tf.constant(1.0))


def test_one_worker_gets_back_what_it_gave():
    distribute = npu.distribute
    tensors, variable = [tf.constant(1.0), tf.constant(2)], tf.Variable(3.0)
    assert distribute.all_reduce(tensors, "sum") is tensors
    assert distribute.all_reduce(tensors[0]) is tensors[0]
    assert distribute.broadcast(variable) is None and distribute.broadcast([variable], 0) is None
    optimizer = tf.keras.optimizers.SGD(0.1)
    assert distribute.npu_distributed_keras_optimizer_wrapper(optimizer) is optimizer
    assert isinstance(distribute.npu_distributed_keras_optimizer_wrapper("sgd", reduction="sum"),
                      tf.keras.optimizers.SGD)  # fmt: skip
    dataset = tf.data.Dataset.range(3)
    assert distribute.shard_and_rebatch_dataset(dataset, 32) == (dataset, 32)
    assert distribute.grouping_broadcast([variable]) == [variable]
    taken = distribute.grouping_gradients_apply(lambda pairs, scale: (list(pairs), scale), [(1, 2)], scale=3)
    assert taken == ([(1, 2)], 3)


def test_what_distribute_refuses():
    with pytest.raises(ValueError, match=r"reduction is 'average'; it is one of mean, max, min, prod, sum"):
        npu.distribute.all_reduce([], "average")
    with pytest.raises(ValueError, match=r"fusion is 1; it is one of 0, 2"):
        npu.distribute.broadcast([], fusion=1)
    with pytest.raises(ValueError, match=r"it is a name of at most 127 characters"):
        npu.distribute.all_reduce([], group="g" * 128)


def test_one_of_several_workers_is_told_what_is_missing(monkeypatch):
    monkeypatch.setenv("RANK_SIZE", "2")
    monkeypatch.delenv("RANK_TABLE_FILE", raising=False)
    for call in (
        lambda: npu.distribute.all_reduce([]),
        lambda: npu.distribute.broadcast([]),
        lambda: npu.distribute.shard_and_rebatch_dataset(None, 4),
    ):
        with pytest.raises(RuntimeError, match=r"the 2 processes cannot meet: .*RANK_TABLE_FILE"):
            call()


def test_callbacks_for_keras():
    model = tf.keras.Sequential([tf.keras.layers.Input((2,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    callbacks = npu_callbacks_append([tf.keras.callbacks.History()])
    model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0, callbacks=callbacks)
    assert len(callbacks) == 2 and callbacks[1].broadcast_done
    assert broadcast_keras_model(model) is model and broadcast_keras_model("no model") == "no model"
    strategy = tf.distribute.get_strategy()
    assert npu_broadcast_scope_wrapper(strategy) is strategy


def test_recomputation_that_is_asked_for_is_told_once(nothing_said, recwarn):
    with pytest.warns(UserWarning, match="nothing is computed again: results of the forward pass are kept"):
        npu.npu_recompute_scope()
    recwarn.clear()
    npu.npu_recompute_scope()
    assert not [one for one in recwarn if "computed again" in str(one.message)]


@pytest.mark.filterwarnings("ignore:nothing is computed again")
def test_scopes_mark_what_is_built_in_them():
    with tf.Graph().as_default() as graph:
        with npu.keep_dtype_scope():
            kept = tf.constant(1.0) + 1.0
        with npu.npu_recompute_scope():
            again = kept + 1.0
    assert kept.op.get_attr("_keep_dtype") and again.op.get_attr("_recompute")
    assert "_keep_dtype" not in again.op.node_def.attr and len(graph.get_operations()) > 2


def test_run_options_are_checked(nothing_said):
    from npu_device.scope import run_options

    options = run_options()
    options.experimental.graph_memory_optimize_config.recompute = "auto"
    with pytest.warns(UserWarning, match="nothing is computed again"), npu.npu_run_context(options):
        pass
    with npu.npu_run_context(options), npu.npu_run_context():
        assert float(tf.constant(1.0) + 1) == 2
    options.experimental.graph_memory_optimize_config.recompute = "always"
    with pytest.raises(ValueError, match="recompute is 'always'; allowed are None, 'auto' and 'manual'"):  # noqa: SIM117
        with npu.npu_run_context(options):
            pass


def test_functions_without_xla():
    @npu.npu_compat_function(jit_compile=True)
    def doubled(x):
        return x * 2

    assert float(doubled(tf.constant(2.0))) == 4
    assert float(npu.npu_compat_function(lambda x: x + 1)(tf.constant(2.0))) == 3


def test_other_names_of_scripts():
    assert npu.npu_device.global_npu_ctx() is npu.open()
    assert npu.npu_device.open is npu.open and npu.npu_device.gen_npu_ops is npu.gen_npu_ops
    dropout = tf.nn.dropout
    npu_convert_api()
    assert tf.nn.dropout is dropout
