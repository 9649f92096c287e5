# SPDX-License-Identifier: Apache-2.0
"""Operators that came into frozen graphs one by one: a graph of each family -> atc -> .om -> AscendCL, against the same
graph in TensorFlow."""

import numpy as np
import pytest
import tensorflow as tf
from anynpu.infer import InferSession
from test_dataflow_models import atc, infer

v1 = tf.compat.v1
RANDOM = np.random.default_rng(5)
PICTURES = RANDOM.uniform(0, 1, (2, 8, 10, 3)).astype("float32")
BOXES = np.float32([[0, 0, 1, 1], [0.1, 0.2, 0.7, 0.95], [0.12, 0.2, 0.71, 0.9], [-0.2, 0.1, 1.2, 0.5]])
SCORES = np.float32([0.3, 0.9, 0.8, 0.5])


def crops(pictures, boxes):
    index = [0, 1, 1, 0]
    return [
        tf.image.crop_and_resize(pictures, boxes, index, [4, 5], extrapolation_value=-1),
        tf.image.crop_and_resize(pictures, boxes, index, [4, 5], "nearest"),
    ]


def suppressed(boxes, scores):
    chosen, kept = tf.image.non_max_suppression_with_scores(boxes, scores, 4, 0.4, 0.1, 0.3)
    padded, valid = tf.raw_ops.NonMaxSuppressionV4(
        boxes=boxes,
        scores=scores,
        max_output_size=6,
        iou_threshold=0.4,
        score_threshold=0.0,
        pad_to_max_output_size=True,
    )
    return [tf.gather(boxes, tf.image.non_max_suppression(boxes, scores, 3, 0.4)), chosen, kept, padded, valid]


def combined(boxes, scores):
    both = tf.stack([scores, 1 - scores], axis=-1)[None]
    return list(tf.image.combined_non_max_suppression(boxes[None, :, None], both, 3, 5, 0.4, 0.2))


def coloured(pictures):
    turned = tf.image.rgb_to_hsv(pictures) * [0.9, 0.8, 1.0]
    return [turned, tf.image.hsv_to_rgb(turned)]


def quantised(pictures):
    return [
        tf.quantization.fake_quant_with_min_max_args(pictures, -0.1, 0.8),
        tf.quantization.fake_quant_with_min_max_vars(pictures, tf.reduce_min(pictures), 0.7, 4),
        tf.quantization.fake_quant_with_min_max_vars_per_channel(pictures, [0.0, -1, 0.1], [1.0, 0.5, 0.9]),
    ]


def patches(pictures):
    return [tf.image.extract_patches(pictures, [1, 3, 2, 1], [1, 2, 2, 1], [1, 1, 2, 1], "SAME")]


def resized(pictures):
    return [
        v1.image.resize_bicubic(pictures, [5, 16]),
        tf.image.resize(pictures, [5, 16], "bicubic"),
        tf.image.resize(pictures, [3, 4], "area"),
    ]


def listed(scores):
    dense = tf.raw_ops.SparseToDense(
        sparse_indices=tf.argsort(scores)[:1], output_shape=[4], sparse_values=scores[:1], default_value=-1.0
    )
    only, where = tf.raw_ops.ListDiff(x=scores, y=scores[1:3])
    return [dense, only, where, tf.histogram_fixed_width(scores, [0.0, 1.0], 4)]


def spectra(pictures):
    lines, raw = pictures[..., 0], tf.raw_ops
    half, plane = raw.RFFT(input=lines, fft_length=[10]), raw.RFFT2D(input=lines, fft_length=[8, 8])
    whole = tf.signal.ifft3d(tf.signal.fft3d(tf.complex(lines, pictures[..., 1])))
    return [
        tf.math.real(half),
        tf.math.imag(half),
        raw.IRFFT(input=half, fft_length=[9]),
        tf.abs(plane),
        raw.IRFFT2D(input=plane, fft_length=[8, 8]),
        tf.math.imag(whole),
        raw.IRFFT3D(input=raw.RFFT3D(input=lines, fft_length=[2, 8, 10]), fft_length=[2, 8, 10]),
    ]


def singular(pictures):
    s, u, v = tf.linalg.svd(pictures[..., 1])
    values = tf.linalg.svd(tf.complex(pictures[..., 1], pictures[..., 2]), compute_uv=False)
    return [s, tf.matmul(u * s[:, None], v, adjoint_b=True), tf.linalg.svd(pictures[..., 2], compute_uv=False), values]


def drawn(pictures, boxes):
    both = tf.stack([boxes, boxes * 0.5])
    return [v1.image.draw_bounding_boxes(pictures, both), tf.image.draw_bounding_boxes(pictures, both, [[0, 0.5, 1]])]


def labelled(pictures):
    scores = tf.transpose(pictures[..., 0], [1, 0, 2]) * 9
    best, score = tf.nn.ctc_greedy_decoder(scores, [8, 5])
    paths, scores_of = tf.nn.ctc_beam_search_decoder(scores, [8, 5], 6, 2)
    return [best[0].values, best[0].indices, score, paths[0].values, paths[1].dense_shape, scores_of]


def arrays(pictures):
    """As tf.while_loop of TensorFlow 1 with arrays, the form that dynamic_rnn has."""
    lines = pictures[..., 0]
    given = tf.TensorArray(tf.float32, 8).unstack(tf.transpose(lines, [1, 0, 2]))

    def step(i, state, taken):
        state = tf.tanh(state * 0.5 + given.read(i))
        return i + 1, state, taken.write(i, state)

    start = [0, tf.zeros_like(lines[:, 0]), tf.TensorArray(tf.float32, 8)]
    _, state, taken = v1.while_loop(lambda i, *_: i < 8, step, start)
    return [state, taken.stack()]


FAMILIES = {
    crops: {"pictures": PICTURES, "boxes": BOXES},
    suppressed: {"boxes": BOXES, "scores": SCORES},
    combined: {"boxes": BOXES, "scores": SCORES},
    coloured: {"pictures": PICTURES},
    quantised: {"pictures": PICTURES},
    patches: {"pictures": PICTURES},
    resized: {"pictures": PICTURES},
    listed: {"scores": SCORES},
    spectra: {"pictures": PICTURES},
    singular: {"pictures": PICTURES},
    drawn: {"pictures": PICTURES, "boxes": BOXES},
    labelled: {"pictures": PICTURES},
    arrays: {"pictures": PICTURES},
}


def frozen(build, inputs, folder, dynamic=False):
    """Writes the graph; gives what TensorFlow computes, and the names of the outputs."""
    with tf.Graph().as_default() as graph, tf.device("/device:CPU:0"), v1.Session() as session:
        shape = lambda x: [None] * x.ndim if dynamic else x.shape  # noqa: E731
        holes = {name: v1.placeholder(x.dtype, shape(x), name) for name, x in inputs.items()}
        outputs = [tf.identity(y, f"out{i}") for i, y in enumerate(build(**holes))]
        wanted = session.run(outputs, {holes[name]: x for name, x in inputs.items()})
        (folder / "model.pb").write_bytes(graph.as_graph_def().SerializeToString())
    return wanted, ";".join(f"out{i}:0" for i in range(len(outputs)))


@pytest.fixture(autouse=True)
def dataflow_control():
    v1.disable_control_flow_v2()
    yield
    v1.enable_control_flow_v2()


@pytest.mark.promise("frozen graphs with boxes, resampled images, Fourier transforms, fake quantisation and CTC run")
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("build", FAMILIES)
def test_a_frozen_graph_gives_what_tensorflow_gives(build, dynamic, tmp_path):
    inputs = FAMILIES[build]
    wanted, names = frozen(build, inputs, tmp_path, dynamic)
    got = infer(tmp_path, inputs, f"--out_nodes={names}")
    assert len(got) == len(wanted)
    for mine, theirs in zip(got, wanted, strict=True):
        assert mine.dtype == theirs.dtype and mine.shape == theirs.shape
        close = 0 if theirs.dtype.kind in "iub" else 1e-5 * np.abs(theirs).max()
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=close)


def test_boxes_stay_exact_in_a_model_of_halves(tmp_path):
    """By default atc computes in float16 where it can; coordinates stay as they are."""

    def build(pictures, boxes):
        features = tf.nn.conv2d(pictures, RANDOM.normal(size=(3, 3, 3, 4)).astype("float32"), 1, "SAME")
        return [tf.image.crop_and_resize(features, boxes, [0, 1, 1, 0], [4, 5])]

    inputs = {"pictures": PICTURES, "boxes": BOXES}
    (wanted,), names = frozen(build, inputs, tmp_path)
    shapes = ";".join(f"{name}:{','.join(map(str, x.shape))}" for name, x in inputs.items())
    said = atc(tmp_path, f"--input_shape={shapes}", f"--out_nodes={names}")
    assert said.returncode == 0, said.stdout + said.stderr
    with InferSession(0, f"{tmp_path}/converted.om") as session:
        (got,) = session.infer(list(inputs.values()))
    assert np.abs(got - wanted).max() <= 5e-3 * np.abs(wanted).max()


def test_image_sizes_need_no_format(tmp_path):
    """TensorFlow's images have their channels last: --dynamic_image_size finds height and width by itself."""

    def build(pictures):
        return [tf.reduce_mean(tf.image.resize(pictures, [4, 4], "bicubic"), -1)]

    inputs = {"pictures": PICTURES}
    frozen(build, inputs, tmp_path, dynamic=True)
    flags = ["--input_shape=pictures:2,-1,-1,3", "--dynamic_image_size=8,10;6,6", "--out_nodes=out0:0",
             "--precision_mode=must_keep_origin_dtype"]  # fmt: skip
    said = atc(tmp_path, *flags)
    assert said.returncode == 0, said.stdout + said.stderr
    with InferSession(0, f"{tmp_path}/converted.om") as session:
        for picture in (PICTURES, PICTURES[:, :6, :6].copy()):
            (got,) = session.infer([picture], mode="dymhw")
            with tf.device("/device:CPU:0"):
                wanted = build(picture)[0].numpy()
            np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-6)
    said = atc(tmp_path, *flags, "--input_format=NCHW")
    assert said.returncode != 0 and "E10019" in said.stdout + said.stderr


@pytest.mark.parametrize(
    ("build", "inputs", "text"),
    [
        (
            lambda pictures, boxes: [
                tf.raw_ops.CropAndResize(image=pictures, boxes=boxes, box_ind=[0], crop_size=[2, 2])
            ],
            {"pictures": PICTURES, "boxes": BOXES[:, :3]},
            "boxes must have 4 columns",
        ),
        (
            lambda scores: [tf.raw_ops.RFFT(input=scores, fft_length=[9])],
            {"scores": SCORES},
            "Input dimension 0 must have length of at least 9 but got: 4",
        ),
        (
            lambda pictures: [tf.raw_ops.ResizeArea(images=pictures, size=[0, 4])],
            {"pictures": PICTURES},
            "output dimensions must be positive",
        ),
    ],
    ids=["crop", "transform", "area"],
)
def test_a_graph_that_does_not_hold_together_is_refused(build, inputs, text, tmp_path):
    with tf.Graph().as_default() as graph, tf.device("/device:CPU:0"):
        holes = {name: v1.placeholder(x.dtype, [None] * x.ndim, name) for name, x in inputs.items()}
        outputs = [tf.identity(y, f"out{i}") for i, y in enumerate(build(**holes))]
        (tmp_path / "model.pb").write_bytes(graph.as_graph_def().SerializeToString())
    shapes = ";".join(f"{name}:{','.join(map(str, x.shape))}" for name, x in inputs.items())
    said = atc(tmp_path, f"--input_shape={shapes}", f"--out_nodes={outputs[0].name}")
    assert said.returncode != 0
    assert text in said.stdout + said.stderr
