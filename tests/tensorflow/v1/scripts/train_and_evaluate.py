# SPDX-License-Identifier: Apache-2.0
"""train_and_evaluate of an Estimator: a learning rate that decays, hooks in the spec, evaluations at checkpoints, an
exporter of the last model."""

import argparse
import os
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.ERROR)


class TellLoss(tf.train.SessionRunHook):
    def begin(self):
        self.tensors = [tf.get_default_graph().get_tensor_by_name("the_loss:0"), tf.train.get_global_step()]

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self.tensors[0])

    def after_run(self, run_context, run_values):
        self.count = getattr(self, "count", 0) + 1
        print("loss[%d] %.9g" % (self.count, run_values.results))


def model_fn(features, labels, mode):
    net = tf.layers.dense(features, 16, tf.nn.elu)
    output = tf.layers.dense(net, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"y": output})
    loss = tf.identity(tf.losses.huber_loss(labels, output), "the_loss")
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(0.05, step, 5, 0.9, staircase=True)
    train_op = tf.train.GradientDescentOptimizer(rate).minimize(loss, step)
    hooks = [TellLoss()] if mode == tf.estimator.ModeKeys.TRAIN else None
    metrics = {
        "rmse": tf.metrics.root_mean_squared_error(labels, output),
        "mae": tf.metrics.mean_absolute_error(labels, output),
    }
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics, training_hooks=hooks)


def input_fn(count, seed):
    rng = np.random.RandomState(seed)
    x = rng.randn(count, 6).astype(np.float32)
    y = (x[:, :1] * x[:, 1:2] + 0.5 * x[:, 2:3]).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((x, y)).batch(20)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=8)
    steps = parser.parse_args().steps
    folder = tempfile.mkdtemp()
    config = tf.estimator.RunConfig(model_dir=folder, tf_random_seed=100, save_checkpoints_steps=max(steps // 2, 1))
    estimator = tf.estimator.Estimator(model_fn, config=config)

    def serving():
        features = tf.placeholder(tf.float32, [None, 6], name="features")
        return tf.estimator.export.TensorServingInputReceiver(features, {"x": features})

    exporter = tf.estimator.LatestExporter("last", serving)
    train_spec = tf.estimator.TrainSpec(lambda: input_fn(20 * steps, 101).repeat(), max_steps=steps)
    eval_spec = tf.estimator.EvalSpec(lambda: input_fn(80, 102), steps=None, exporters=[exporter], throttle_secs=0)
    measured, exports = tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)
    print("global_step %d" % measured["global_step"])
    for name in ("loss", "rmse", "mae"):
        print("%s %.9g" % (name, measured[name]))
    print("exports %d" % len([each for each in exports if each and os.path.isdir(each)]))
    print("evaluations %d" % len(tf.io.gfile.glob(os.path.join(folder, "eval", "events*"))))


if __name__ == "__main__":
    main()
