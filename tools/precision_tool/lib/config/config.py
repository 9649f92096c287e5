# SPDX-License-Identifier: Apache-2.0
"""Settings of the precision tool: to be edited. Folders are below the one in which a command or a script is started."""

import os

# Steps whose tensors are dumped: '0|5|10', '0|3-5'; '' is all of them.
TF_DUMP_STEP = "0"

# Where atc and msaccucmp.py are looked for first, at any depth; then in PATH.
CMD_ROOT_PATH = "/usr/local/Ascend"

# DEBUG, INFO, WARNING or ERROR: what the tool tells beside its results; NOTSET is all.
LOG_LEVEL = "INFO"

# The folder above precision_data; '' is the current one.
ROOT_DIR = ""

# Of random numbers of Python, NumPy and TensorFlow, set when tf_config is imported.
DUMP_SEED = 2022

# DUMP_GE_GRAPH and DUMP_GRAPH_LEVEL of runs that dump.
DUMP_GE_GRAPH_VALUE = 2
DUMP_GRAPH_LEVEL_VALUE = 3

# The stage of dumped graphs that comparisons read.
BUILD_JSON_GRAPH_NAME = "Build"

# Variables that npu_dump and npu_overflow set for scripts that call npu_device_dump_config(npu_device, None).
PRECISION_TOOL_OVERFLOW_FLAG = "PRECISION_TOOL_OVERFLOW"
PRECISION_TOOL_DUMP_FLAG = "PRECISION_TOOL_DUMP"

# ---- folders, which the guides name: not to be edited
DATA_ROOT_DIR = os.path.join(ROOT_DIR, "precision_data")
FUSION_DIR = os.path.join(DATA_ROOT_DIR, "fusion")
NPU_DIR = os.path.join(DATA_ROOT_DIR, "npu")
DEFAULT_NPU_DIR = os.path.join(NPU_DIR, "debug_0")
DEFAULT_NPU_DUMP_DIR = os.path.join(DEFAULT_NPU_DIR, "dump")
DEFAULT_NPU_GRAPH_DIR = os.path.join(DEFAULT_NPU_DIR, "graph")
OVERFLOW_DIR = os.path.join(DATA_ROOT_DIR, "overflow")
NPU_OVERFLOW_DUMP_DIR = os.path.join(OVERFLOW_DIR, "dump")
TF_DIR = os.path.join(DATA_ROOT_DIR, "tf")
TF_DUMP_DIR = os.path.join(TF_DIR, "dump")
TMP_DIR = os.path.join(DATA_ROOT_DIR, "temp")
OP_GRAPH_DIR = os.path.join(TMP_DIR, "op_graph")
DECODE_DIR = os.path.join(TMP_DIR, "decode")
OVERFLOW_DECODE_DIR = os.path.join(DECODE_DIR, "overflow_decode")
DUMP_DECODE_DIR = os.path.join(DECODE_DIR, "dump_decode")
DUMP_CONVERT_DIR = os.path.join(DECODE_DIR, "dump_convert")
VECTOR_COMPARE_PATH = os.path.join(TMP_DIR, "vector_compare")
