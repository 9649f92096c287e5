# SPDX-License-Identifier: Apache-2.0
"""The calls that the guide shows for each interface, 11.1.1.1 to 11.1.1.11, one after the other; numbers that it
gives for eight workers are those of one here."""

import tensorflow as tf
import npu_device as npu

npu.global_options().precision_mode = "allow_mix_precision"
npu.open().as_default()

import json

told = {}

v = tf.constant(1.0)
x = npu.distribute.all_reduce([v], "sum")
y = npu.distribute.all_reduce([v], "mean")
told["all_reduce"] = [float(x[0]), float(y[0])]

x = tf.Variable(tf.random.normal(shape=()))
before = float(x)
npu.distribute.broadcast(x, root_rank=0)
told["broadcast"] = before == float(x)

optimizer = tf.keras.optimizers.SGD()
optimizer = npu.distribute.npu_distributed_keras_optimizer_wrapper(optimizer)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
model.compile(optimizer=optimizer, loss="mse")
told["fit"] = model.fit(tf.ones([8, 4]), tf.ones([8, 1]), verbose=0).history["loss"]

dataset, batch_size = tf.data.Dataset.range(12), 4
dataset, batch_size = npu.distribute.shard_and_rebatch_dataset(dataset, batch_size)
told["rebatch"] = [batch_size, len(list(dataset.batch(batch_size)))]


@tf.function
def kept(a):
    with npu.keep_dtype_scope():
        v = tf.add(a, 1)
    return tf.nn.relu(tf.matmul(v, v))


with npu.keep_dtype_scope():
    v = tf.add(1, 1)
told["keep_dtype"] = int(v) + float(tf.reduce_sum(kept(tf.ones([2, 2]))))

npu.set_npu_loop_size(100)

optimizer = tf.keras.optimizers.Adam(lr=0.1)
optimizer = npu.train.optimizer.NpuLossScaleOptimizer(optimizer)
told["optimizer"] = isinstance(optimizer, tf.keras.mixed_precision.LossScaleOptimizer)

x = tf.constant([-1.0, 0.0, 2.0])
output = npu.ops.gelu(x)
told["gelu"] = output.numpy().tolist()

npu.npu_device.set_device_sat_mode(1)
told["inf_nan"] = npu.is_inf_nan_enabled()
print(json.dumps(told))
