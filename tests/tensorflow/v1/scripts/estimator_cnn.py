# SPDX-License-Identifier: Apache-2.0
"""An Estimator with a model function: trained, evaluated, asked, exported, and begun again from its folder."""

import argparse
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.ERROR)


def model_fn(features, labels, mode, params):
    net = tf.reshape(features["image"], [-1, 12, 12, 1])
    for depth in params["depths"]:
        net = tf.layers.conv2d(net, depth, 3, padding="same", activation=tf.nn.relu)
        net = tf.layers.max_pooling2d(net, 2, 2)
    net = tf.layers.dense(tf.layers.flatten(net), 24, tf.nn.relu)
    net = tf.layers.dropout(net, 0.1, training=mode == tf.estimator.ModeKeys.TRAIN, seed=9)
    logits = tf.layers.dense(net, 4)
    predictions = {"class": tf.argmax(logits, axis=1), "probabilities": tf.nn.softmax(logits, name="softmax")}
    if mode == tf.estimator.ModeKeys.PREDICT:
        outputs = {"serving_default": tf.estimator.export.PredictOutput(predictions)}
        return tf.estimator.EstimatorSpec(mode, predictions=predictions, export_outputs=outputs)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.TRAIN:
        optimizer = tf.train.AdamOptimizer(params["rate"])
        train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
    metrics = {
        "accuracy": tf.metrics.accuracy(labels, predictions["class"]),
        "mean_chance": tf.metrics.mean(tf.reduce_max(predictions["probabilities"], axis=1)),
    }
    return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)


def pictures(count, seed):
    rng = np.random.RandomState(seed)
    labels = rng.randint(0, 4, count).astype(np.int32)
    images = 0.3 * rng.randn(count, 12, 12).astype(np.float32)
    for image, label in zip(images, labels):
        image[6 * (label // 2) : 6 * (label // 2) + 6, 6 * (label % 2) : 6 * (label % 2) + 6] += 1
    return {"image": images}, labels


def input_fn(count, seed, batch):
    return tf.data.Dataset.from_tensor_slices(pictures(count, seed)).batch(batch, drop_remainder=True)


def serving_input():
    image = tf.placeholder(tf.float32, [None, 12, 12], name="image")
    return tf.estimator.export.ServingInputReceiver({"image": image}, {"image": image})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=8)
    steps = parser.parse_args().steps
    config = tf.estimator.RunConfig(model_dir=tempfile.mkdtemp(), tf_random_seed=90, save_checkpoints_steps=5)
    params = {"depths": (4, 8), "rate": 0.005}
    classifier = tf.estimator.Estimator(model_fn, config=config, params=params)
    classifier.train(lambda: input_fn(16 * steps, 91, 16), steps=steps // 2)
    classifier.train(lambda: input_fn(16 * steps, 92, 16), max_steps=steps)
    measured = classifier.evaluate(lambda: input_fn(64, 93, 32))
    print("global_step %d" % measured["global_step"])
    for name in ("loss", "accuracy", "mean_chance"):
        print("%s %.9g" % (name, measured[name]))
    answers = list(classifier.predict(lambda: input_fn(8, 94, 8)))
    print("predicted %.9g" % sum(each["probabilities"].max() for each in answers))
    print("kernel %.9g" % np.abs(classifier.get_variable_value("conv2d/kernel")).sum())

    exported = classifier.export_saved_model(tempfile.mkdtemp(), serving_input)
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.saved_model.loader.load(sess, [tf.saved_model.tag_constants.SERVING], exported.decode())
        served = sess.run("softmax:0", {"image:0": pictures(8, 94)[0]["image"]})
    print("served %.9g" % served.max(axis=1).sum())

    warm = tf.estimator.Estimator(
        model_fn, tempfile.mkdtemp(), config.replace(model_dir=None), params, warm_start_from=classifier.model_dir
    )
    warm.train(lambda: input_fn(32, 95, 16), steps=2)
    print("warm_loss %.9g" % warm.evaluate(lambda: input_fn(64, 93, 32))["loss"])


if __name__ == "__main__":
    main()
