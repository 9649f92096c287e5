# SPDX-License-Identifier: Apache-2.0
"""What TensorFlow refuses is refused here, although it is found only when the work runs."""

import numpy as np
import pytest
import tensorflow as tf
from case import floats, ints, scalar
from engine import Engine, EngineError, Value, node_of
from traced import Traced

BY_ZERO = {"x": ints(6, 7), "y": ints(2, 0)}
ZERO = np.float32(0).reshape(())


def rows_of(indices, dense_shape):
    return {"indices": np.int64(indices), "values": floats(1), "dense_shape": np.int64(dense_shape),
            "default_value": ZERO}  # fmt: skip


def sizes_of(new_shape):
    return {"input_indices": np.int64([[0, 1]]), "input_shape": np.int64([3, 4]), "new_shape": np.int64(new_shape)}


def crop_of(**changed):
    return {
        "image": floats(1, 4, 4, 2),
        "boxes": floats(2, 4),
        "box_ind": ints(0, 0),
        "crop_size": ints(2, 2),
    } | changed


def boxes_of(**changed):
    numbers = {"iou_threshold": ZERO, "score_threshold": ZERO}
    return {"boxes": floats(3, 4), "scores": floats(3), "max_output_size": scalar(2)} | numbers | changed


def combined_of(**changed):
    sizes = {"max_output_size_per_class": scalar(2), "max_total_size": scalar(2)}
    numbers = {"iou_threshold": ZERO, "score_threshold": ZERO}
    return {"boxes": floats(1, 3, 1, 4), "scores": floats(1, 3, 2)} | sizes | numbers | changed


def bins_of(**changed):
    return {"values": floats(3), "value_range": np.float32([0, 1]), "nbins": scalar(3)} | changed


REFUSED = [
    ("FloorDiv", BY_ZERO, "Integer division by zero"),
    ("FloorMod", BY_ZERO, "Integer division by zero"),
    ("Mod", BY_ZERO, "Integer division by zero"),
    ("Pow", {"x": ints(2, 3), "y": ints(1, -1)}, "Integers to negative integer powers are not allowed"),
    ("CheckNumerics", {"tensor": np.float32([1, np.nan])}, "here : Tensor had NaN values"),
    ("CheckNumericsV2", {"tensor": np.float32([1, np.inf])}, "here : Tensor had \\+Inf values"),
    ("GatherV2", {"params": floats(3, 2), "indices": ints(0, 3), "axis": scalar(0)}, "holds 3 at position 1"),
    ("GatherV2", {"params": floats(3, 2), "indices": ints(-1), "axis": scalar(0)}, "holds -1 at position 0"),
    ("GatherNd", {"params": floats(3, 2), "indices": np.array([[0, 2]], "int32")}, "holds 2 at position 0"),
    ("ScatterNd", {"indices": np.array([[4]], "int32"), "updates": floats(1, 2), "shape": ints(4, 2)}, "holds 4"),
    (
        "UnsortedSegmentSum",
        {"data": floats(2, 2), "segment_ids": ints(0, 5), "num_segments": scalar(3)},
        "out of range",
    ),
    ("SegmentSum", {"data": floats(2, 2), "segment_ids": ints(1, 0)}, "segment ids are not increasing"),
    ("DynamicPartition", {"data": ints(1, 2), "partitions": ints(0, 2)}, "is not in \\[0, 2\\)"),
    ("InvertPermutation", {"x": ints(0, 0, 1)}, "duplicated"),
    (
        "ClipByValue",
        {"t": floats(2, 3), "clip_value_min": floats(3), "clip_value_max": ZERO},
        "a bound is 3 and the input 2x3",
    ),
    ("ConcatOffset", {"concat_dim": scalar(0), "shape": [scalar(2), scalar(3)]}, "it is a vector of sizes"),
    ("ConcatOffset", {"concat_dim": ints(0), "shape": [ints(2), ints(3)]}, "it is a number"),
    ("Bincount", {"arr": ints(1, 1), "size": scalar(3), "weights": floats(3)}, "weights are 3, the numbers 2"),
    ("Bincount", {"arr": ints(1, 1), "size": scalar(-1), "weights": floats(2)}, "must be non-negative"),
    ("Bincount", {"arr": ints(1, 1), "size": ints(3), "weights": floats(2)}, "it is a number"),
    ("ReverseV2", {"tensor": floats(2, 2), "axis": ints(0, -2)}, "specified more than once"),
    ("ConcatV2", {"values": [floats(2, 2), floats(3, 3)], "axis": scalar(0)}, "differ"),
    (
        "SparseToDense",
        {"sparse_indices": ints(3, 1), "output_shape": ints(5), "sparse_values": floats(2), "default_value": ZERO},
        "indices\\[1\\] = \\[1\\] is out of order. Many sparse ops require sorted indices",
    ),
    (
        "SparseToDense",
        {"sparse_indices": ints(1, 1), "output_shape": ints(5), "sparse_values": floats(2), "default_value": ZERO},
        "indices\\[1\\] = \\[1\\] is repeated",
    ),
    (
        "SparseToDense",
        {"sparse_indices": ints(1, -1), "output_shape": ints(5), "sparse_values": floats(2), "default_value": ZERO},
        "indices\\[1\\] = \\[-1\\] is out of bounds: need 0 <= index < \\[5\\]",
    ),
    (
        "SparseToDense",
        {"sparse_indices": ints(1, 2), "output_shape": ints(5), "sparse_values": floats(3), "default_value": ZERO},
        "sparse_values has incorrect shape \\[3\\], should be \\[\\] or \\[2\\]",
    ),
    ("SparseFillEmptyRows", rows_of([[4, 0]], [2, 2]), "indices\\(0, 0\\) is invalid: 4 >= 2"),
    ("SparseFillEmptyRows", rows_of([[0, 0]], [0, 2]), "Received SparseTensor with dense_shape\\[0\\] = 0 but"),
    ("SparseFillEmptyRows", rows_of([[0, 0]], [2, 2, 2]), "The length of `dense_shape` \\(3\\) must match"),
    (
        "SparseFillEmptyRowsGrad",
        {"reverse_index_map": np.int64([0, 7]), "grad_values": floats(3)},
        "Elements in reverse index must be in \\[0, 3\\) but got 7",
    ),
    ("SparseReshape", sizes_of([5, -1]), "the requested shape requires a multiple of 5. input_shape=\\[3,4\\]"),
    ("SparseReshape", sizes_of([5]), "a tensor with 12 dense values, but the requested shape has 5"),
    ("SparseReshape", sizes_of([-1, -1]), "only one output dimension may be -1, not both 0 and 1"),
    ("SparseReshape", sizes_of([-2, -1]), "size 0 must be non-negative, not -2"),
    ("SparseReshape", sizes_of([2**40, 2**40, -1]), "has more elements than 64 bits can count"),
    (
        "Reshape",
        {"tensor": floats(2, 2), "shape": np.int64([2**40, 2**40, -1])},
        "has more elements than 64 bits can count",
    ),
    (
        "ComputeAccidentalHits",
        {"true_classes": np.int64([[1, 2]]), "sampled_candidates": np.int64([2])},
        "true_candidates must be a batch_size \\* num_true matrix",
    ),
    ("Tile", {"input": floats(2, 2), "multiples": ints(1)}, "multiples"),
    ("Range", {"start": scalar(0), "limit": scalar(5), "delta": scalar(0)}, "delta != 0"),
    ("CropAndResize", crop_of(crop_size=ints(0, 2)), "crop dimensions must be positive"),
    ("CropAndResize", crop_of(crop_size=ints(2, 2, 2)), "crop_size must have two elements"),
    ("CropAndResize", crop_of(boxes=floats(2, 3)), "boxes must have 4 columns"),
    ("CropAndResize", crop_of(box_ind=ints(0)), "box_index has incompatible shape"),
    ("CropAndResize", crop_of(boxes=np.float32([[0, 0, np.inf, 1]] * 2)), "at least one element that is not finite"),
    ("NonMaxSuppressionV3", boxes_of(iou_threshold=np.float32(2).reshape(())), "iou_threshold must be in \\[0, 1\\]"),
    ("NonMaxSuppressionV3", boxes_of(max_output_size=scalar(-1)), "output size must be non-negative"),
    ("NonMaxSuppressionV3", boxes_of(boxes=floats(3, 5)), "boxes must have 4 columns"),
    ("NonMaxSuppressionV3", boxes_of(scores=floats(2)), "scores has incompatible shape"),
    ("CombinedNonMaxSuppression", combined_of(max_total_size=scalar(0)), "max_total_size must be > 0"),
    ("CombinedNonMaxSuppression", combined_of(boxes=floats(1, 3, 3, 4)), "must be either 1 or num classes"),
    ("FakeQuantWithMinMaxVars", {"inputs": floats(3), "min": floats(2), "max": ZERO}, "must be rank 0 but is rank 1"),
    (
        "FakeQuantWithMinMaxVarsPerChannel",
        {"inputs": floats(2, 3), "min": floats(2), "max": floats(2)},
        "min has incorrect size, expected 3 was 2",
    ),
    (
        "FakeQuantWithMinMaxArgsGradient",
        {"gradients": floats(2), "inputs": floats(3)},
        "gradient and input must be the same size",
    ),
    ("ExtractImagePatches", {"images": floats(2, 3)}, "input must be 4-dimensional"),
    ("ListDiff", {"x": ints(1, 2).reshape(1, 2), "y": ints(1)}, "x should be a 1D vector"),
    ("ListDiff", {"x": ints(1), "y": scalar(1)}, "y should be a 1D vector"),
    ("HistogramFixedWidth", bins_of(value_range=np.float32([2, 1])), "value_range should satisfy value_range\\[0\\] <"),
    ("HistogramFixedWidth", bins_of(values=np.float32([1, np.nan])), "Histogram values must not contain NaN"),
    ("HistogramFixedWidth", bins_of(nbins=scalar(0)), "nbins should be a positive number, but got '0'"),
    ("ResizeBicubic", {"images": floats(1, 4, 4, 3), "size": ints(0, 3)}, "output dimensions must be positive"),
    ("ResizeArea", {"images": floats(1, 0, 4, 3), "size": ints(2, 3)}, "input image must be of non-zero size"),
    ("ResizeArea", {"images": floats(1, 4, 4, 3), "size": ints(2)}, "shape_t must have two elements"),
    ("RFFT", {"input": floats(2, 4), "fft_length": ints(5)}, "Input dimension 1 must have length of at least 5 but"),
    ("RFFT2D", {"input": floats(4, 4), "fft_length": ints(4)}, "fft_length must have shape \\[2\\]"),
    ("RFFT", {"input": floats(2, 4), "fft_length": ints(-1)}, "fft_length\\[0\\] must >= 0, but got: -1"),
    ("Svd", {"input": floats(3)}, "must have rank >= 2, got 1"),
    (
        "DrawBoundingBoxes",
        {"images": floats(1, 4, 4, 2), "boxes": floats(1, 2, 4)},
        "Channel depth should be either 1 \\(GRY\\), 3 \\(RGB\\), or 4 \\(RGBA\\)",
    ),
    (
        "DrawBoundingBoxes",
        {"images": floats(2, 4, 4, 3), "boxes": floats(1, 2, 4)},
        "The batch sizes should be the same",
    ),
    (
        "CTCGreedyDecoder",
        {"inputs": floats(4, 2, 3), "sequence_length": ints(4, 4)},
        "blank_index expected to be between -3 and 2 but was 7",
    ),
    (
        "CTCBeamSearchDecoder",
        {"inputs": floats(4, 1, 3), "sequence_length": ints(1)},
        "requested more paths than the beam width",
    ),
]
ATTRIBUTES = {"CheckNumerics": {"message": "here"}, "CheckNumericsV2": {"message": "here"},
              "ComputeAccidentalHits": {"num_true": 1}, "DynamicPartition": {"num_partitions": 2},
              "ExtractImagePatches": {"ksizes": [1, 2, 2, 1], "strides": [1] * 4, "rates": [1] * 4, "padding": "SAME"},
              "CTCGreedyDecoder": {"blank_index": 7},
              "CTCBeamSearchDecoder": {"beam_width": 1, "top_paths": 2}}  # fmt: skip


OUTPUTS = {"DynamicPartition": 2, "SparseFillEmptyRows": 4, "SparseFillEmptyRowsGrad": 2, "SparseReshape": 2,
           "ComputeAccidentalHits": 3, "ConcatOffset": 2, "CombinedNonMaxSuppression": 4, "ListDiff": 2, "Svd": 3,
           "CTCGreedyDecoder": 4, "CTCBeamSearchDecoder": 7}  # fmt: skip


@pytest.mark.parametrize(("op", "inputs", "text"), REFUSED, ids=lambda v: v if isinstance(v, str) else "")
def test_is_refused_as_tensorflow_does(op, inputs, text):
    attributes = ATTRIBUTES.get(op, {})
    with pytest.raises(tf.errors.InvalidArgumentError), tf.device("CPU"):
        getattr(tf.raw_ops, op)(**tf.nest.map_structure(tf.constant, inputs), **attributes)
    flat = tf.nest.flatten(list(inputs.values()))
    # With values unknown, TensorFlow lets the node pass.
    node = node_of(op, inputs, attributes, hole=lambda v: tf.compat.v1.placeholder(v.dtype))
    with pytest.raises(EngineError, match=text) as e:
        Engine().run_node(node, [Value.of(v) for v in flat], OUTPUTS.get(op, 1))
    assert e.value.node == op


def damaged(whole, rng):
    """The bytes cut off, and with some of them replaced."""
    for size in range(0, len(whole), len(whole) // 40):
        yield whole[:size]
    for _ in range(60):
        changed = bytearray(whole)
        for at in rng.integers(0, len(whole), 3):
            changed[at] = rng.integers(0, 256)
        yield bytes(changed)


def test_damaged_functions_are_refused_and_the_next_runs():
    def f(x):
        for i in tf.range(3):
            x = tf.nn.relu(x @ tf.ones([2, 2])) if i > 0 else x + tf.constant([1.0, 2.0])
        return x

    traced, refused = Traced(f, floats(2, 2)), 0
    for some in damaged(traced.concrete.function_def.SerializeToString(), np.random.default_rng(3)):
        try:
            traced.engine.add_bytes(some)
            traced.run()
        except EngineError as e:
            refused += 1
            assert str(e).startswith("[anynpu_library_")
        traced.engine.add(traced.concrete.function_def)
        traced.run()
    assert refused > 40
    traced.check()


def test_unknown_operators_types_and_functions():
    engine = Engine()
    node = node_of("AddV2", {"x": floats(2), "y": floats(2)}, {})
    two = [Value.of(floats(2)), Value.of(floats(2))]
    for change, text in [
        (lambda n: setattr(n, "op", "AddV9"), "AddV9"),
        (lambda n: setattr(n.attr["T"], "type", tf.bool.as_datatype_enum), "T is bool"),
        (lambda n: setattr(n.attr["T"], "type", tf.int32.as_datatype_enum), "input 0 is float32; AddV2 takes int32"),
        (lambda n: n.attr["T"].Clear(), "attribute T is"),
    ]:
        wrong = type(node).FromString(node.SerializeToString())
        change(wrong)
        with pytest.raises(EngineError, match=text):
            engine.run_node(wrong, two, 1)
    with pytest.raises(EngineError, match="nobody"):
        engine.run("nobody", two, 1)
    np.testing.assert_allclose(engine.run_node(node, two, 1)[0].numpy(), 2 * floats(2))
