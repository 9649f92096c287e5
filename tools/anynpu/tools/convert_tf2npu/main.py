# SPDX-License-Identifier: Apache-2.0
"""Where the guides for TensorFlow look for the migration tool: the command convert_tf2npu, by another way."""

from anynpu.subcommand.migrate import convert_tf2npu

convert_tf2npu()
