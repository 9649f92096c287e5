# SPDX-License-Identifier: Apache-2.0
"""Runs a frozen graph (GraphDef) of TensorFlow on the NPU, with numbers of its own making, tuning meanwhile:

    python -m npu_device.run_graph model.pb --tune 2 --input_shape "x:8,224,224,3"

The command aoe is a face of this."""

import argparse
import sys
from pathlib import Path

import numpy as np
import tensorflow as tf

import npu_device as npu

RUNS = 3  # the first one compiles


def arguments():
    parser = argparse.ArgumentParser(prog="npu_device.run_graph", description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--tune", choices=("1", "2"), required=True)
    parser.add_argument("--work", default=".")
    parser.add_argument("--input_shape", default="")
    parser.add_argument("--out_nodes", default="")
    parser.add_argument("--tune_ops_file")
    return parser.parse_args()


def read(path):
    graph = tf.compat.v1.GraphDef()
    try:
        graph.ParseFromString(Path(path).read_bytes())
    except Exception as error:
        raise ValueError(f"{path} is no GraphDef: {error}; freeze the model to a .pb") from None
    if not graph.node:
        raise ValueError(f"{path} has no node; freeze the model to a .pb")
    return graph


def shapes(text):
    """{name: sizes} of "x:1,2;y:3"."""
    found = {}
    for item in filter(None, text.split(";")):
        name, _, sizes = item.rpartition(":")
        try:
            found[name] = [int(size) for size in sizes.split(",")] if sizes else []
        except ValueError:
            raise ValueError(f"--input_shape has {item!r}; write name:1,224,224,3") from None
        if not name:
            raise ValueError(f"--input_shape has {item!r}; write name:1,224,224,3")
    return found


def placeholders(graph, given):
    """{tensor name: TensorSpec}. ValueError for sizes that neither the graph nor `given` tells."""
    found = {}
    for node in graph.node:
        if node.op != "Placeholder":
            continue
        shape = tf.TensorShape(node.attr["shape"].shape)
        if node.name in given:
            shape = tf.TensorShape(given.pop(node.name))
        if not shape.is_fully_defined():
            cure = f'give --input_shape="{node.name}:…"'
            raise ValueError(f"the graph leaves sizes of {node.name} open ({shape}); {cure}")
        found[f"{node.name}:0"] = tf.TensorSpec(shape, tf.as_dtype(node.attr["dtype"].type))
    if given:
        raise ValueError(f"--input_shape names {', '.join(given)}; the graph's inputs are {', '.join(found)}")
    return found


def results(graph, named):
    if named:
        return [name if ":" in name else f"{name}:0" for name in filter(None, named.split(";"))]
    read_by_others = {name.split(":")[0].lstrip("^") for node in graph.node for name in node.input}
    return [f"{n.name}:0" for n in graph.node if n.name not in read_by_others and n.op not in ("NoOp", "Placeholder")]


def numbers(spec):
    """Seeded: between 0 and 1, whole numbers 0, as indices and labels take them."""
    if spec.dtype.is_floating:
        return tf.constant(np.random.default_rng(0).random(spec.shape), spec.dtype)
    return tf.zeros(spec.shape, spec.dtype)


def main():
    options = arguments()
    try:
        graph = read(options.model)
        inputs = placeholders(graph, shapes(options.input_shape))
        outputs = results(graph, options.out_nodes)
        wrapped = tf.compat.v1.wrap_function(lambda: tf.import_graph_def(graph, name=""), [])
        function = wrapped.prune(list(inputs), outputs)
    except (ValueError, KeyError) as error:
        return f"npu_device.run_graph: {error}"
    config = npu.global_options().aoe_config
    config.aoe_mode, config.work_path = options.tune, options.work
    if options.tune_ops_file:
        config.aoe_config_file = options.tune_ops_file
    npu.open().as_default()
    step = tf.function(lambda *values: function(*values))
    given = [numbers(spec) for spec in inputs.values()]
    for _ in range(RUNS):
        step(*given)
    return 0


if __name__ == "__main__":
    sys.exit(main())
