# SPDX-License-Identifier: Apache-2.0
"""The guide's migration by hand (10.2, with 6.2 to 6.4 and 6.6 to 6.8) in small: a residual network trained by a loop
of its own, in the shape of TensorFlow's official ResNet-50 (resnet_ctl_imagenet_main.py): flags, a runnable with
train_step, a loop in a tf.function, a data set distributed by a strategy of one device, gradients reduced by hand.

Lines that the guide adds end with "added", lines that it changes with what stood there."""

import npu_device as npu  # added

npu.open().as_default()  # added

import json
import os

import tensorflow as tf
from absl import app, flags

SIZE, CLASSES, FILES = 16, 10, 4

flags.DEFINE_string("data_dir", None, "The folder of the records.")
flags.DEFINE_integer("batch_size", 2, "The size of a batch over all devices.")
flags.DEFINE_integer("train_steps", None, "How many steps are trained.")
flags.DEFINE_integer("steps_per_loop", 32, "How many steps a loop has, at whose end Python comes in.")
flags.DEFINE_integer("num_gpus", 0, "How many GPUs to use.")
flags.DEFINE_string("distribution_strategy", "mirrored", "The name of the strategy.")
flags.DEFINE_boolean("use_tf_function", True, "Wrap the train step in a tf.function.")
flags.DEFINE_boolean("use_tf_while_loop", True, "Build the loop as a tf.while_loop.")
flags.DEFINE_boolean("single_l2_loss_op", False, "One L2 loss over all variables.")
flags.DEFINE_boolean("skip_eval", False, "Train only.")
FLAGS = flags.FLAGS


# distribute_utils.py
def get_distribution_strategy(name, num_gpus):
    if name == "one_device":
        return tf.distribute.OneDeviceStrategy("device:GPU:0" if num_gpus else "device:CPU:0")
    if name == "mirrored":
        return tf.distribute.MirroredStrategy([f"device:GPU:{i}" for i in range(num_gpus)] or ["device:CPU:0"])
    raise ValueError(f"Unrecognized Distribution Strategy: {name}")


# imagenet_preprocessing.py
def parse_record(raw):
    features = {
        "image/encoded": tf.io.FixedLenFeature([], tf.string),
        "image/class/label": tf.io.FixedLenFeature([], tf.int64),
    }
    parsed = tf.io.parse_single_example(raw, features)
    image = tf.image.decode_jpeg(parsed["image/encoded"], 3)
    image = tf.cast(tf.reshape(image, [SIZE, SIZE, 3]), tf.float32) / 127.5 - 1.0
    return image, tf.cast(tf.reshape(parsed["image/class/label"], [1]), tf.float32)


def input_fn(data_dir, batch_size, input_context=None, drop_remainder=False):
    drop_remainder = True  # added
    dataset = tf.data.Dataset.from_tensor_slices([os.path.join(data_dir, f"train-{i}") for i in range(FILES)])
    if input_context:
        dataset = dataset.shard(input_context.num_input_pipelines, input_context.input_pipeline_id)
    dataset, batch_size = npu.distribute.shard_and_rebatch_dataset(dataset, batch_size)  # added
    dataset = dataset.interleave(tf.data.TFRecordDataset, cycle_length=2, num_parallel_calls=2)
    dataset = dataset.shuffle(64, seed=9).repeat().map(parse_record, num_parallel_calls=2)
    return dataset.batch(batch_size, drop_remainder=drop_remainder).prefetch(2)


# resnet_model.py
def resnet():
    layers = tf.keras.layers

    def norm(x, name):
        return layers.BatchNormalization(momentum=0.9, epsilon=1e-5, name=f"bn{name}")(x)

    def convolution(x, filters, kernel, stride, name):
        start = tf.keras.initializers.HeNormal(seed=len(name) + filters)
        return layers.Conv2D(filters, kernel, stride, "same", use_bias=False, kernel_initializer=start,
                             name=f"res{name}")(x)  # fmt: skip

    x = inputs = layers.Input((SIZE, SIZE, 3))
    x = layers.Activation("relu")(norm(convolution(x, 8, 3, 1, "_conv1"), "_conv1"))
    x = layers.MaxPooling2D(3, 2, "same")(x)
    for stage, filters, stride in (("2a", 8, 1), ("3a", 16, 2)):
        y = layers.Activation("relu")(norm(convolution(x, filters, 3, stride, f"{stage}_a"), f"{stage}_a"))
        y = norm(convolution(y, filters, 3, 1, f"{stage}_b"), f"{stage}_b")
        x = norm(convolution(x, filters, 1, stride, f"{stage}_c"), f"{stage}_c")
        x = layers.Activation("relu")(layers.add([y, x]))
    x = layers.GlobalAveragePooling2D()(x)
    start = tf.keras.initializers.RandomNormal(stddev=0.01, seed=4)
    x = layers.Dense(CLASSES, kernel_initializer=start, name="fc10")(x)
    return tf.keras.Model(inputs, layers.Activation("softmax", dtype="float32")(x))


class Warmup(tf.keras.optimizers.schedules.LearningRateSchedule):
    """A rate that rises to `rate` within `steps` steps and stays there."""

    def __init__(self, rate, steps):
        self.rate, self.steps = rate, steps

    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        return tf.cond(step < self.steps, lambda: self.rate * step / self.steps, lambda: tf.constant(self.rate))


# grad_utils.py
def minimize_using_explicit_allreduce(tape, optimizer, loss, variables):
    grads = tape.gradient(loss, variables)
    context = tf.distribute.get_replica_context()
    reduced = context.all_reduce(tf.distribute.ReduceOp.SUM, grads)
    reduced = npu.distribute.all_reduce(reduced, reduction="sum")  # added
    optimizer.apply_gradients(zip(reduced, variables, strict=True))


# orbit: standard_runner.py and utils/loop_fns.py
def create_tf_while_loop_fn(step_fn):
    @tf.function
    def loop_fn(iterator, num_steps):
        for _ in tf.range(num_steps):
            with tf.name_scope(""):
                step_fn(iterator)

    return loop_fn


def create_loop_fn(step_fn):
    def loop_fn(iterator, num_steps):
        for _ in range(int(num_steps)):
            step_fn(iterator)

    return loop_fn


# resnet_runnable.py
class ResnetRunnable:
    def __init__(self, options, strategy):
        self.options, self.strategy = options, strategy
        self.model = resnet()
        self.optimizer = tf.keras.optimizers.SGD(Warmup(0.01, 16), momentum=0.9)
        self.train_loss = tf.keras.metrics.Mean("train_loss", dtype=tf.float32)
        self.train_accuracy = tf.keras.metrics.SparseCategoricalAccuracy("train_accuracy", dtype=tf.float32)

        def made(context):
            return input_fn(options.data_dir, context.get_per_replica_batch_size(options.batch_size), context)

        self.train_iterator = iter(strategy.distribute_datasets_from_function(made))
        step = tf.function(self.train_step) if options.use_tf_function else self.train_step
        create = create_tf_while_loop_fn if options.use_tf_while_loop else create_loop_fn
        self.loop_fn = create(step)

    def train_step(self, iterator):
        def step_fn(inputs):
            images, labels = inputs
            with tf.GradientTape() as tape:
                logits = self.model(images, training=True)
                prediction_loss = tf.keras.losses.sparse_categorical_crossentropy(labels, logits)
                loss = tf.reduce_sum(prediction_loss) * (1.0 / self.options.batch_size)
                num_replicas = self.strategy.num_replicas_in_sync
                if self.options.single_l2_loss_op:
                    l2_loss = (
                        1e-4
                        * 2
                        * tf.add_n([tf.nn.l2_loss(v) for v in self.model.trainable_variables if "bn" not in v.name])
                    )
                    loss += l2_loss / num_replicas
                else:
                    loss += tf.reduce_sum(self.model.losses) / num_replicas
            minimize_using_explicit_allreduce(tape, self.optimizer, loss, self.model.trainable_variables)
            self.train_loss.update_state(loss)
            self.train_accuracy.update_state(labels, logits)

        self.strategy.run(step_fn, args=(next(iterator),))

    def train(self, num_steps):
        self.train_loss.reset_state()
        self.train_accuracy.reset_state()
        self.loop_fn(self.train_iterator, num_steps)
        return {"train_loss": float(self.train_loss.result()), "accuracy": float(self.train_accuracy.result())}


# resnet_ctl_imagenet_main.py
def main(_):
    tf.random.set_seed(3)
    strategy = get_distribution_strategy(FLAGS.distribution_strategy, FLAGS.num_gpus)
    with strategy.scope():
        runnable = ResnetRunnable(FLAGS, strategy)
        npu.distribute.broadcast(runnable.model.trainable_variables)  # added
    loops = []
    for _ in range(FLAGS.train_steps // FLAGS.steps_per_loop):
        loops.append(runnable.train(tf.constant(FLAGS.steps_per_loop, tf.int32)))
    print(json.dumps({"loops": loops, "steps": int(runnable.optimizer.iterations),
                      "place": runnable.model.trainable_variables[0].device,
                      "sums": [float(tf.reduce_sum(v)) for v in runnable.model.trainable_variables]}))  # fmt: skip


if __name__ == "__main__":
    app.run(main)
