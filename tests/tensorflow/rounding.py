# SPDX-License-Identifier: Apache-2.0
"""Fusion passes whose nodes round less often than their parts, and models of tests/tensorflow/models.py that show it.
All other passes change no bit."""

PASSES = {
    "attention": ("long",),
    "loop_inputs": ("lstm", "gru", "cell", "masked"),
    "layer_norm": ("attention", "transformer"),
}
OFF = "".join(f"{name}:off\n" for name in PASSES)
