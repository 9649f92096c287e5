# SPDX-License-Identifier: Apache-2.0
"""Small models as scripts of TensorFlow 1 write them. Each is a function of the type of its numbers that builds a part
of the graph and gives Parts; batch functions give arrays for its placeholders."""

from dataclasses import dataclass

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
CLASSES, WORDS = 10, 30


@dataclass
class Parts:
    """What is fed, what is minimized by whom over which scope, and what evaluation looks at."""

    feeds: dict
    objectives: list
    output: object
    training: object = None  # the placeholder that tells training from evaluation
    runners: bool = False


def pictures(dtype, size, channels):
    return {"x": tf1.placeholder(dtype, [None, size, size, channels]), "y": tf1.placeholder(tf.int32, [None])}


def classified(feeds, logits, optimizer, **more):
    loss = tf1.losses.sparse_softmax_cross_entropy(feeds["y"], logits)
    return Parts(feeds, [(loss, optimizer, None)], tf.nn.softmax(logits), **more)


def mlp(dtype):
    feeds = {"x": tf1.placeholder(dtype, [None, 20]), "y": tf1.placeholder(tf.int32, [None])}
    w = tf1.get_variable("w", [20, 32], initializer=tf1.truncated_normal_initializer(stddev=0.3, seed=1))
    b = tf1.get_variable("b", [32], initializer=tf1.zeros_initializer())
    logits = tf1.layers.dense(tf.nn.relu(tf1.nn.xw_plus_b(feeds["x"], w, b)), CLASSES)
    return classified(feeds, logits, tf1.train.GradientDescentOptimizer(0.1))


def lenet(dtype):
    """With dropout whose draws are the same for every type."""
    feeds, training = pictures(dtype, 14, 1), tf1.placeholder_with_default(False, [])
    x = tf1.layers.conv2d(feeds["x"], 6, 5, padding="same", activation=tf.nn.relu)
    x = tf1.layers.max_pooling2d(x, 2, 2)
    x = tf1.layers.conv2d(x, 16, 3, activation=tf.nn.tanh)
    x = tf1.layers.flatten(tf1.layers.average_pooling2d(x, 2, 2))
    x = tf1.layers.dense(x, 40, activation=tf.nn.relu)
    kept = tf.cast(tf1.random_uniform(tf.shape(x), seed=5) < 0.8, dtype) / 0.8
    logits = tf1.layers.dense(tf.cond(training, lambda: x * kept, lambda: x), CLASSES)
    return classified(feeds, logits, tf1.train.MomentumOptimizer(0.05, 0.9), training=training)


def resnet(dtype):
    """18 layers, in the style of slim: scopes, batch norm with update operations, weight decay."""
    feeds, training = pictures(dtype, 8, 3), tf1.placeholder_with_default(False, [])
    decay = tf.keras.regularizers.l2(1e-4)

    def convolved(x, depth, size, stride):
        return tf1.layers.conv2d(x, depth, size, stride, "same", use_bias=False, kernel_regularizer=decay)

    def normed(x):
        # The fused operator takes no float64.
        return tf1.layers.batch_normalization(x, training=training, momentum=0.9, fused=dtype == tf.float32)

    def block(x, depth, stride):
        before = tf.nn.relu(normed(x))
        side = x if stride == 1 and x.shape[-1] == depth else convolved(before, depth, 1, stride)
        y = tf.nn.relu(normed(convolved(before, depth, 3, stride)))
        return side + convolved(y, depth, 3, 1)

    x = convolved(feeds["x"], 8, 3, 1)
    for i, depth in enumerate((8, 12, 16, 20)):
        for unit in range(2):
            with tf1.variable_scope(f"block{i}/unit{unit}"):
                x = block(x, depth, 2 if i and not unit else 1)
    x = tf.reduce_mean(tf.nn.relu(normed(x)), [1, 2], name="pool5")
    logits = tf1.layers.dense(x, CLASSES, name="logits")
    parts = classified(feeds, logits, tf1.train.MomentumOptimizer(0.02, 0.9), training=training)
    (loss, *rest), *_ = parts.objectives
    parts.objectives = [(loss + tf1.losses.get_regularization_loss(), *rest)]
    return parts


def series(dtype):
    return {
        "x": tf1.placeholder(dtype, [None, 7, 5]),
        "length": tf1.placeholder(tf.int32, [None]),
        "y": tf1.placeholder(tf.int32, [None]),
    }


def lstm(dtype):
    feeds = series(dtype)
    cells = [tf1.nn.rnn_cell.LSTMCell(8, use_peepholes=True), tf1.nn.rnn_cell.BasicLSTMCell(6)]
    many = tf1.nn.rnn_cell.MultiRNNCell(cells)
    _, state = tf1.nn.dynamic_rnn(many, feeds["x"], feeds["length"], dtype=dtype)
    return classified(feeds, tf1.layers.dense(state[-1].h, CLASSES), tf1.train.AdamOptimizer(0.01))


def lstm_by_hand(dtype):
    """A loop over arrays of tensors, written out."""
    feeds = series(dtype)
    units = 6
    kernel, bias = tf1.get_variable("kernel", [5 + units, 4 * units]), tf1.get_variable("bias", [4 * units])
    inputs = tf.TensorArray(dtype, 7).unstack(tf.transpose(feeds["x"], [1, 0, 2]))

    def body(t, state, output, outputs):
        gates = tf.matmul(tf.concat([inputs.read(t), output], 1), kernel) + bias
        i, j, f, o = tf.split(gates, 4, 1)
        new = tf.sigmoid(f + 1.0) * state + tf.sigmoid(i) * tf.tanh(j)
        goes_on = tf.expand_dims(tf.cast(t < feeds["length"], dtype), 1)
        new = goes_on * new + (1 - goes_on) * state
        output = goes_on * tf.sigmoid(o) * tf.tanh(new) + (1 - goes_on) * output
        return t + 1, new, output, outputs.write(t, output)

    zeros = tf.zeros([tf.shape(feeds["x"])[0], units], dtype)
    start = [0, zeros, zeros, tf.TensorArray(dtype, 7)]
    *_, last, outputs = tf1.while_loop(lambda t, *_: t < 7, body, start, parallel_iterations=4)
    logits = tf1.layers.dense(last + tf.reduce_mean(outputs.stack(), 0), CLASSES)
    return classified(feeds, logits, tf1.train.RMSPropOptimizer(0.01))


def bidirectional_gru(dtype):
    feeds = series(dtype)
    cells = [tf1.nn.rnn_cell.GRUCell(6) for _ in range(2)]
    outputs, _ = tf1.nn.bidirectional_dynamic_rnn(*cells, feeds["x"], feeds["length"], dtype=dtype)
    logits = tf1.layers.dense(tf.reduce_max(tf.concat(outputs, 2), 1), CLASSES)
    return classified(feeds, logits, tf1.train.AdagradOptimizer(0.1))


def word2vec(loss_function, dtype):
    feeds = {"x": tf1.placeholder(tf.int32, [16]), "y": tf1.placeholder(tf.int64, [16, 1])}
    table = tf1.get_variable("table", [WORDS, 8], initializer=tf1.random_uniform_initializer(-1, 1, seed=2))
    weights = tf1.get_variable("weights", [WORDS, 8])
    biases = tf1.get_variable("biases", [WORDS], initializer=tf1.zeros_initializer())
    words, *counts = tf.random.log_uniform_candidate_sampler(feeds["y"], 1, 6, True, WORDS, seed=3)
    sampled = (words, *(tf.cast(one, dtype) for one in counts))  # samplers count in float32
    found = tf.nn.embedding_lookup(table, feeds["x"])
    loss = tf.reduce_mean(loss_function(weights, biases, feeds["y"], found, 6, WORDS, sampled_values=sampled))
    unit = table / tf.sqrt(tf.reduce_sum(tf.square(table), 1, keepdims=True))
    return Parts(
        feeds, [(loss, tf1.train.GradientDescentOptimizer(0.3), None)], tf.matmul(unit, unit, transpose_b=True)
    )


def sampled_softmax(dtype):
    return word2vec(tf1.nn.sampled_softmax_loss, dtype)


def nce(dtype):
    return word2vec(tf1.nn.nce_loss, dtype)


def bert(dtype):
    """Two layers of an encoder, built of tf.layers, that tell hidden words."""
    words, mask = tf1.placeholder(tf.int32, [None, 12]), tf1.placeholder(dtype, [None, 12])
    feeds = {"x": words, "mask": mask, "y": tf1.placeholder(tf.int32, [None, 12])}
    width, heads = 16, 2
    random = tf1.truncated_normal_initializer(stddev=0.2, seed=4)
    table = tf1.get_variable("word_embeddings", [WORDS, width], initializer=random)
    places = tf1.get_variable("position_embeddings", [12, width], initializer=random)

    def normed(x, name):
        with tf1.variable_scope(name):
            beta = tf1.get_variable("beta", [width], initializer=tf1.zeros_initializer())
            gamma = tf1.get_variable("gamma", [width], initializer=tf1.ones_initializer())
        mean, variance = tf1.nn.moments(x, [-1], keep_dims=True)
        return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-6)

    def dense(x, units, name, activation=None):
        return tf1.layers.dense(x, units, activation, kernel_initializer=random, name=name)

    def split(x):
        return tf.transpose(tf.reshape(x, [-1, 12, heads, width // heads]), [0, 2, 1, 3])

    def attention(x):
        query, key, value = (split(dense(x, width, name)) for name in ("query", "key", "value"))
        scores = tf.matmul(query, key, transpose_b=True) / (width // heads) ** 0.5
        shares = tf.nn.softmax(scores + (1 - mask[:, None, None, :]) * -10000.0)
        return tf.reshape(tf.transpose(tf.matmul(shares, value), [0, 2, 1, 3]), [-1, 12, width])

    def gelu(x):
        return x * 0.5 * (1.0 + tf1.erf(x / 2.0**0.5))

    x = normed(tf.nn.embedding_lookup(table, words) + places, "norm")
    for i in range(2):
        with tf1.variable_scope(f"layer_{i}"):
            x = normed(x + dense(attention(x), width, "output"), "norm")
            x = normed(x + dense(dense(x, 32, "up", gelu), width, "down"), "norm_2")
    logits = tf.tensordot(x, table, [[2], [1]])
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=feeds["y"], logits=logits)
    loss = tf.reduce_sum(loss * mask) / tf.reduce_sum(mask)
    rate = tf1.train.polynomial_decay(0.01, tf1.train.get_or_create_global_step(), 20, 0.001)
    return Parts(feeds, [(loss, tf1.train.AdamOptimizer(rate), None)], x)


def wide_deep(dtype):
    """Feature columns, and a lookup of weighted words of a sparse tensor."""
    columns = tf.feature_column
    feeds = {
        "age": tf1.placeholder(tf.float32, [None, 1]),
        "town": tf1.placeholder(tf.string, [None, 1]),
        "tags": tf1.sparse_placeholder(tf.int64, [None, 4]),
        "shares": tf1.sparse_placeholder(dtype, [None, 4]),
        "y": tf1.placeholder(tf.float32, [None, 1]),
    }
    features = {name: feeds[name] for name in ("age", "town", "tags")}
    age = columns.numeric_column("age", normalizer_fn=lambda x: (x - 40.0) / 10.0)
    aged = columns.bucketized_column(columns.numeric_column("age"), [25, 40, 60])
    town = columns.categorical_column_with_vocabulary_list("town", ["Lund", "Graz", "Pisa"], num_oov_buckets=1)
    tags = columns.categorical_column_with_hash_bucket("tags", 9, tf.int64)
    crossed = columns.crossed_column(["town", aged], 12)
    wide = tf1.feature_column.linear_model(features, [town, tags, crossed], sparse_combiner="mean")
    dense = [columns.indicator_column(aged), age]
    narrow = [columns.embedding_column(town, 3), columns.embedding_column(tags, 4, combiner="sqrtn")]
    deep = [tf.cast(tf1.feature_column.input_layer(features, dense), dtype)]
    deep.append(tf1.feature_column.input_layer(features, narrow))
    table = tf1.get_variable("tags_table", [20, 5])
    deep.append(tf.nn.embedding_lookup_sparse(table, feeds["tags"], feeds["shares"], combiner="sum"))
    x = tf1.layers.dense(tf.concat(deep, 1), 8, activation=tf.nn.relu)
    logits = wide + tf1.layers.dense(x, 1, name="head")
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.cast(feeds["y"], dtype), logits=logits))
    linear, rest = (".*linear_model", "(?!.*linear_model)")
    optimizers = [(tf1.train.FtrlOptimizer(0.1), linear), (tf1.train.AdagradOptimizer(0.1), rest)]
    return Parts(feeds, [(loss, *one) for one in optimizers], tf.sigmoid(logits))


def dcgan(dtype):
    """Two networks and two optimizers; the noise is fed."""
    feeds = {"x": tf1.placeholder(dtype, [None, 8, 8, 1]), "z": tf1.placeholder(dtype, [None, 6])}
    training = tf1.placeholder_with_default(False, [])

    def normed(x):
        return tf1.layers.batch_normalization(x, training=training, fused=dtype == tf.float32)

    with tf1.variable_scope("generator"):
        x = tf.reshape(tf1.layers.dense(feeds["z"], 2 * 2 * 8), [-1, 2, 2, 8])
        x = tf1.layers.conv2d_transpose(tf.nn.relu(normed(x)), 6, 4, 2, "same")
        made = tf.tanh(tf1.layers.conv2d_transpose(tf.nn.relu(normed(x)), 1, 4, 2, "same"))

    def judged(x):
        with tf1.variable_scope("discriminator", reuse=tf1.AUTO_REUSE):
            for depth in (4, 8):
                x = tf.nn.leaky_relu(tf1.layers.conv2d(x, depth, 4, 2, "same", name=f"conv{depth}"))
            return tf1.layers.dense(tf1.layers.flatten(x), 1, name="head")

    real, false = judged(feeds["x"]), judged(made)
    entropy = tf.nn.sigmoid_cross_entropy_with_logits
    judge = tf.reduce_mean(entropy(labels=tf.ones_like(real), logits=real))
    judge += tf.reduce_mean(entropy(labels=tf.zeros_like(false), logits=false))
    maker = tf.reduce_mean(entropy(labels=tf.ones_like(false), logits=false))
    optimizers = [tf1.train.AdamOptimizer(0.002, beta1=0.5) for _ in range(2)]
    objectives = [(judge, optimizers[0], "discriminator"), (maker, optimizers[1], "generator")]
    return Parts(feeds, objectives, made, training=training)


def queues(dtype):
    """Input by queue runners: nothing is fed."""
    rng = np.random.default_rng(5)
    pictures, labels = rng.normal(size=(40, 6)), rng.integers(0, CLASSES, 40).astype("int32")
    x, y = tf1.train.slice_input_producer([tf.constant(pictures, dtype), tf.constant(labels)], shuffle=False)
    x, y = tf1.train.batch([x * 2, y], 8, capacity=32)
    parts = classified({"y": y}, tf1.layers.dense(x, CLASSES), tf1.train.GradientDescentOptimizer(0.1), runners=True)
    parts.feeds = {}
    return parts


def labelled(shape):
    return lambda rng: {"x": rng.normal(size=(8, *shape)), "y": rng.integers(0, CLASSES, 8)}


def sequences(rng):
    return labelled((7, 5))(rng) | {"length": rng.integers(1, 8, 8)}


def pairs(rng):
    return {"x": rng.integers(0, WORDS, 16), "y": rng.integers(0, WORDS, (16, 1))}


def sentences(rng):
    lengths = rng.integers(3, 13, 8)
    words = rng.integers(0, WORDS, (2, 8, 12))
    return {"x": words[0], "y": words[1], "mask": (np.arange(12) < lengths[:, None]).astype("float32")}


def people(rng):
    indices = np.array([[i, j] for i in range(8) for j in range(rng.integers(1, 5))])
    count = len(indices)
    return {
        "age": rng.uniform(18, 80, (8, 1)),
        "town": rng.choice([b"Lund", b"Graz", b"Pisa", b"Brno"], (8, 1)).astype(object),
        "tags": tf1.SparseTensorValue(indices, rng.integers(0, 20, count), [8, 4]),
        "shares": tf1.SparseTensorValue(indices, rng.uniform(0.5, 1.5, count).astype("float32"), [8, 4]),
        "y": rng.integers(0, 2, (8, 1)),
    }


def noisy(rng):
    return {"x": np.tanh(rng.normal(size=(8, 8, 8, 1))), "z": rng.normal(size=(8, 6))}


MODELS = {
    "mlp": (mlp, labelled((20,))),
    "lenet": (lenet, labelled((14, 14, 1))),
    "resnet": (resnet, labelled((8, 8, 3))),
    "lstm": (lstm, sequences),
    "lstm by hand": (lstm_by_hand, sequences),
    "bidirectional gru": (bidirectional_gru, sequences),
    "sampled softmax": (sampled_softmax, pairs),
    "nce": (nce, pairs),
    "bert": (bert, sentences),
    "wide and deep": (wide_deep, people),
    "dcgan": (dcgan, noisy),
    "queues": (queues, lambda rng: {}),
}


def batches(name, count):
    """Two of them in turn, so that there is something to learn."""
    rng = np.random.default_rng(1)
    both = [MODELS[name][1](rng) for _ in range(2)]
    return [both[i % 2] for i in range(count)]


class Model:
    """One of them in a graph of its own, with the operation that trains it, and one that sets all variables."""

    def __init__(self, name, dtype=tf.float32, use_resource=False):
        self.graph = tf.Graph()
        with self.graph.as_default():
            tf1.set_random_seed(7)
            getter = typed(dtype) if dtype != tf.float32 else None
            with tf1.variable_scope("", use_resource=use_resource, dtype=dtype, custom_getter=getter):
                self.parts = MODELS[name][0](dtype)
                self._minimize()
            self.initialize = [tf1.global_variables_initializer(), tf1.local_variables_initializer()]
            self.initialize.append(tf1.tables_initializer())
            self.variables = sorted(tf1.global_variables(), key=lambda one: one.name)
            self.values = [tf1.placeholder(one.dtype.base_dtype, one.shape) for one in self.variables]
            self.load = [tf1.assign(*pair).op for pair in zip(self.variables, self.values, strict=True)]

    def _minimize(self):
        trains, self.losses, self.gradients = [], [], []
        with tf.control_dependencies(tf1.get_collection(tf1.GraphKeys.UPDATE_OPS)):
            for loss, optimizer, scope in self.parts.objectives:
                variables = tf1.get_collection(tf1.GraphKeys.TRAINABLE_VARIABLES, scope)
                found = optimizer.compute_gradients(loss, variables)
                step = tf1.train.get_or_create_global_step() if not trains else None
                trains.append((optimizer, found, step))
                self.losses.append(loss)
                self.gradients += [one for one, _ in found]
            with tf.control_dependencies(tf.nest.flatten(self.gradients, True)):
                self.train = [optimizer.apply_gradients(found, step) for optimizer, found, step in trains]

    def feeds(self, batch, training=True):
        fed = {self.parts.feeds[name]: value for name, value in batch.items()}
        return fed | ({self.parts.training: training} if self.parts.training is not None else {})


def typed(dtype):
    """Makes variables of numbers of this type, also where a layer says float32."""

    def get(getter, *args, **named):
        wanted = tf.as_dtype(named.get("dtype") or tf.float32)
        return getter(*args, **named | {"dtype": dtype if wanted == tf.float32 else wanted})

    return get
