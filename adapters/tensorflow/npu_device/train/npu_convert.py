# SPDX-License-Identifier: Apache-2.0
"""Scripts for the vendor's adapter exchange functions of TensorFlow 2.6 for the NPU's by a call from here."""

from npu_device.adapter import library


def npu_convert_api():
    """The vendor's adapter puts dropout of its own into TensorFlow 2.6.2 and later 2.6; with other versions, 2.15.1
    among them, it leaves TensorFlow's, and so does this. TensorFlow's dropout runs on the NPU with its own bits."""
    library.log("tf.nn.dropout stays TensorFlow's own: it runs on the NPU as it is")
