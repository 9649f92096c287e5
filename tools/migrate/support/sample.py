# SPDX-License-Identifier: Apache-2.0
"""Small inputs: what a parameter's name suggests, what an object of a class is good for, and sample.tsv, calls written
out for the names that need more than that."""

import csv
import fnmatch
import functools
import pathlib
import re

import numpy as np
import tensorflow as tf

HERE = pathlib.Path(__file__).parent


def tensor(*shape, dtype="float32"):
    """A tensor that graphs know nothing of; ones where things run at once."""
    if tf.executing_eagerly():
        return tf.constant(np.full(shape, "1") if dtype == "string" else np.ones(shape, dtype))
    return tf.compat.v1.placeholder(dtype, shape)


def integers(*shape):
    return tensor(*shape, dtype="int32")


def sparse():
    return tf.SparseTensor([[0, 0], [1, 2]], tf.constant([1.0, 2.0]), [4, 4])


def ragged():
    return tf.RaggedTensor.from_row_splits(tensor(5), tf.constant([0, 2, 5], tf.int64), validate=False)


def variable(*shape):
    return tf.Variable(np.ones(shape or [4, 4], "float32"))


def data_set():
    return tf.data.Dataset.from_tensor_slices(np.ones([8, 4], "float32"))


def model():
    layers = tf.keras.layers
    return tf.keras.Sequential([layers.Input([4]), layers.Dense(4)])


def first(*given, **_):
    return given[0] if given else tensor(4)


# What stands for a parameter that nothing is known of, likeliest first.
PROFILES = [
    lambda: tensor(4, 4),
    lambda: tensor(4),
    lambda: tensor(2, 8, 8, 3),
    lambda: tensor(2, 4, 4),
    lambda: tensor(),
    lambda: integers(4, 4),
    lambda: integers(4),
    lambda: integers(),
    lambda: tensor(4, 4, dtype="bool"),
    lambda: tensor(4, dtype="int64"),
    lambda: tensor(4, 4, dtype="complex64"),
    lambda: tensor(4, dtype="string"),
    lambda: tensor(dtype="string"),
    lambda: tensor(2, 8, 8, 3, dtype="uint8"),
    lambda: tensor(2, 8, 8, 8, 3),
    lambda: tensor(4, 4, dtype="float64"),
    lambda: [tensor(4, 4), tensor(4, 4)],
    lambda: [4, 4],
    lambda: [1, 2, 3],
    lambda: 2,
    lambda: 0.5,
    lambda: "text",
    lambda: sparse(),
    lambda: ragged(),
    lambda: first,
    lambda: variable(),
    lambda: None,
]

# What a parameter's name suggests; the first pattern that matches counts.
HINTS = [
    (r"name|scope|prefix|tag", lambda: "probe"),
    (r"(input_|output_|out_)?(d|D)?type|Tout|out_type|as_dtype|value_dtype", lambda: tf.float32),
    (r"key_dtype", lambda: tf.int64),
    (r"dtypes|output_types|Tout_list", lambda: [tf.float32]),
    (r"output_shapes|shapes", lambda: [tf.TensorShape([4, 4])]),
    (r"shape|output_shape|dense_shape|input_shape|target_shape", lambda: [4, 4]),
    (r"axis|dim|axes|batch_dims|seq_axis|batch_axis", lambda: 0),
    (r"axis[12]|source|destination", lambda: 0),
    (r"perm", lambda: [1, 0]),
    (r"seeds?", lambda: [1, 2]),
    (r"alg|algorithm", lambda: "philox"),
    (r"paddings?", lambda: [[1, 1], [1, 1]]),
    (r"begin", lambda: [0, 0]),
    (r"size|target_size", lambda: [2, 2]),
    (r"new_height|new_width|target_height|target_width|offset_.*|central_.*", lambda: 2),
    (r"multiples|block_shape|repeats", lambda: [1, 1]),
    (r"ksize|pool_size|kernel_size|window_shape", lambda: 2),
    (r"strides?", lambda: 1),
    (r"padding", lambda: "SAME"),
    (r"crops", lambda: [[0, 0], [0, 0]]),
    (r"filters?|units|n_units|output_dim|input_dim|cell_size|state_size|hidden_units|rank", lambda: 4),
    (
        r"(num|n|max|min|k|depth|maxlen|size|count|length|bins?|buckets?|total|height|width|factor|block_size|steps?"
        r"|frame_length|frame_step|batch_size|capacity|repetitions|period|level|bits)(_.*)?"
        r"|.*_(num|count|length|size|steps?|bits|dim|bins|buckets)",
        lambda: 2,
    ),
    (r".*(rate|momentum|epsilon|alpha|beta|prob|threshold|ratio|fraction|delta|stddev|scale|decay|lambda|power)$"
     r"|p|q|factor", lambda: 0.5),
    (r"labels?|y_true", lambda: None),
    (r"segment_ids|partitions", lambda: tf.constant([0, 0, 1, 1])),
    (r"indices|ids|indices_.*|row_.*|.*_indices|sorted_.*", lambda: integers(2)),
    (r"mask|conditions?|pred|predicates?", lambda: tensor(4, 4, dtype="bool")),
    (r"true_fn|false_fn", lambda: (lambda: tensor(4, 4))),
    (r"cond", lambda: (lambda *_: tf.constant(False))),
    (r"body|fn|func|function|callable|f|map_func|python_function|elems_fn|wrapped|step_fn|input_fn|op_fn|.*_fn|.*_func"
     r"|callback", lambda: first),
    (r"(file|path|dir|folder)(_?name|_?path|s)?|.*(_dir|_path|_?file|filename|filenames|pattern|logdir|filepath)",
     lambda: "probe.file"),
    (r"variables?|var|var_list|ref|params?", lambda: variable()),
    (r"optimizer|inner_optimizer|opt", lambda: tf.keras.optimizers.SGD()),
    (r"model", lambda: model()),
    (r"layer|cell", lambda: tf.keras.layers.SimpleRNNCell(4)),
    (r"dataset|input_dataset", lambda: data_set()),
    (r"initializer", lambda: tf.keras.initializers.GlorotUniform()),
    (r"sess|session", lambda: tf.compat.v1.Session()),
    (r"graph", lambda: tf.Graph()),
    (r"graph_def|input_graph_def", lambda: tf.Graph().as_graph_def()),
    (r"sp_input|sp_a|sp_ids|sp_tensor|sparse_.*|sp_.*", lambda: sparse()),
    (r"rt_input|ragged|rt", lambda: ragged()),
    (r"equation", lambda: "ij,jk->ik"),
    (r"config", lambda: {}),
    (r"device|device_name", lambda: "/CPU:0"),
    (r"method|mode|kind|ord", lambda: "nearest"),
    (r"module|cls", lambda: np.ndarray),
]  # fmt: skip
COMPILED = [(re.compile(pattern), make) for pattern, make in HINTS]


def argument(parameter, name, profile, hints):
    """The value for one parameter of `name`."""
    if hints:
        for pattern, make in COMPILED:
            if pattern.fullmatch(parameter):
                if pattern.pattern == "seeds?" and "stateless" not in name:
                    return 1
                value = make()
                return profile() if value is None else value
    return profile()


@functools.cache
def written():
    """Patterns of names and calls, in Python, of sample.tsv."""
    with open(HERE / "sample.tsv", encoding="utf-8") as file:
        lines = [line for line in file if line[0] not in "#\n"]
    return list(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def expression(names):
    """The call that sample.tsv has for one of these names, or None; a name in full counts more than a pattern."""
    for pattern, call in sorted(written(), key=lambda row: "*" in row[0]):
        if any(fnmatch.fnmatchcase(name, "tensorflow." + pattern) for name in names):
            return call
    return None


def evaluate(expression, value):
    """A call of sample.tsv, `f` being the name itself. `;` parts statements."""
    words = {"tf": tf, "np": np, "f": value, "v1": tf.compat.v1, "K": tf.keras}
    for function in (tensor, integers, sparse, ragged, variable, data_set, model, first, use):
        words[function.__name__] = function
    exec(expression, words)  # noqa: S102 - our own table
    return "called"


LAYER_INPUTS = [
    lambda: tensor(2, 8),
    lambda: tensor(2, 8, 8),
    lambda: tensor(2, 8, 8, 3),
    lambda: tensor(2, 8, 8, 8, 3),
    lambda: [tensor(2, 8), tensor(2, 8)],
    lambda: [tensor(2, 8, 8), tensor(2, 8, 8)],
    lambda: tensor(2, 4, 8, 8, 3),
    lambda: integers(2, 8),
    lambda: tensor(2, 4, dtype="string"),
    lambda: tensor(2, 4, dtype="int64"),
    lambda: (tensor(2, 4), [tensor(2, 4)]),
    lambda: (tensor(2, 4), [tensor(2, 4), tensor(2, 4)]),
]


def _first_that_works(calls):
    error = None
    for call in calls:
        try:
            return call()
        except Exception as e:  # noqa: BLE001 - the next one may do
            error = e
    raise error


def _layer(layer):
    def with_input(make):
        try:
            return layer(make(), training=True)
        except TypeError:
            return layer(make())

    _first_that_works([lambda make=make: with_input(make) for make in LAYER_INPUTS])
    return "a layer, called"


def _pair(call):
    shapes = [([4, 4], "float32", [4, 4]), ([4], "int32", [4, 4]), ([4], "float32", [4]), ([4, 4], "float32", [4])]
    return _first_that_works(
        [lambda a=a, t=t, b=b: call(tensor(*a, dtype=t), tensor(*b)) for a, t, b in shapes]
        + [lambda: call(integers(2, 8, 8), tensor(2, 8, 8, 3))]
    )


def _cell(cell):
    cell(tensor(2, 4), cell.zero_state(2, tf.float32))
    return "a cell, called"


def _metric(metric):
    _first_that_works([lambda: metric.update_state(tensor(4, 4)), lambda: _pair(metric.update_state)])
    metric.result()
    return "a metric, updated and read"


def _optimizer(optimizer):
    weights = tf.Variable(np.ones([4, 4], "float32"))
    optimizer.apply_gradients([(tensor(4, 4), weights)])
    return "an optimizer, applied"


def _operator(operator):
    operator.matmul(tensor(*operator.shape[-2:]))
    return "an operator of linear algebra, multiplied"


def _loss(loss):
    _pair(loss)
    return "a loss, called"


def _called(*arguments):
    def apply(made):
        made(*[make() for make in arguments])
        return "made and called"

    return apply


def uses():
    """What is done with an object of a class, by the class."""
    keras, v1 = tf.keras, tf.compat.v1
    return [
        (v1.nn.rnn_cell.RNNCell, _cell),
        (keras.metrics.Metric, _metric),
        (keras.Model, lambda made: "made"),
        (keras.layers.Layer, _layer),
        (keras.losses.Loss, _loss),
        ((keras.optimizers.Optimizer, keras.optimizers.legacy.Optimizer, v1.train.Optimizer), _optimizer),
        (keras.optimizers.schedules.LearningRateSchedule, _called(lambda: integers())),
        (keras.initializers.Initializer, _called(lambda: [4, 4])),
        (keras.regularizers.Regularizer, _called(lambda: tensor(4, 4))),
        (keras.constraints.Constraint, _called(lambda: tensor(4, 4))),
        (tf.linalg.LinearOperator, _operator),
        (v1.distributions.Distribution, lambda d: (d.sample(2), "a distribution, sampled")[1]),
    ]


def use(made, name):
    """Puts an object to its use; says what that was."""
    for kinds, apply in uses():
        if isinstance(made, kinds):
            return apply(made)
    if ".initializers." in name or name.endswith("_initializer"):
        return _called(lambda: [4, 4])(made)
    return "made"
