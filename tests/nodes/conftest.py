# SPDX-License-Identifier: Apache-2.0
import os

# The oracle takes dilations and empty batches with oneDNN's kernels alone; TensorFlow leaves them off on some CPUs.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
