# SPDX-License-Identifier: Apache-2.0
"""Where the guides for TensorFlow 1 look for the migration tool: convert_tf2npu for scripts of TensorFlow 1, which lays
what it migrates beside its reports."""

from anynpu.subcommand.migrate import convert_tf1

convert_tf1()
