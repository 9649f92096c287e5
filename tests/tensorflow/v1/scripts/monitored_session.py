# SPDX-License-Identifier: Apache-2.0
"""MonitoredTrainingSession with a scaffold, hooks of its own and of TensorFlow, stopped and begun again from its
checkpoint."""

import argparse
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.ERROR)


class LossHook(tf.train.SessionRunHook):
    def __init__(self, loss):
        self.loss, self.ended = loss, False

    def before_run(self, run_context):
        return tf.train.SessionRunArgs({"loss": self.loss, "step": tf.train.get_global_step()})

    def after_run(self, run_context, run_values):
        self.last = run_values.results["loss"]

    def end(self, session):
        self.ended = True


def run(folder, last_step):
    with tf.Graph().as_default():
        tf.set_random_seed(70)
        rng = np.random.RandomState(71)
        x = tf.constant(rng.randn(32, 4), tf.float32)
        y = tf.constant(rng.randn(32, 1), tf.float32)
        output = tf.layers.dense(tf.layers.dense(x, 8, tf.nn.relu), 1)
        loss = tf.losses.mean_squared_error(y, output)
        step = tf.train.get_or_create_global_step()
        train = tf.train.AdamOptimizer(0.02).minimize(loss, global_step=step)
        own = LossHook(loss)
        hooks = [
            own,
            tf.train.StopAtStepHook(last_step=last_step),
            tf.train.NanTensorHook(loss),
            tf.train.LoggingTensorHook({"loss": loss}, every_n_iter=2),
        ]
        scaffold = tf.train.Scaffold(saver=tf.train.Saver(max_to_keep=2))
        with tf.train.MonitoredTrainingSession(
            checkpoint_dir=folder, hooks=hooks, scaffold=scaffold, save_checkpoint_steps=4, save_summaries_steps=None
        ) as sess:
            begun_at = sess.run_step_fn(lambda step_context: step_context.session.run(step))
            print("begun_at_%d %d" % (last_step, begun_at))
            while not sess.should_stop():
                _, reached = sess.run([train, step])
                print("loss[%d] %.9g" % (reached, own.last))
        print("ended_%d %d" % (last_step, own.ended))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=5)
    steps = parser.parse_args().steps
    with tempfile.TemporaryDirectory() as folder:
        run(folder, steps)
        run(folder, 2 * steps)
        reader = tf.train.load_checkpoint(tf.train.latest_checkpoint(folder))
        print("saved_step %d" % reader.get_tensor("global_step"))
        print("saved_kernel %.9g" % np.abs(reader.get_tensor("dense/kernel")).sum())
