# SPDX-License-Identifier: Apache-2.0
import os

os.environ.setdefault("TORCH_DEVICE_BACKEND_AUTOLOAD", "0")  # the oracle is torch on the CPU
