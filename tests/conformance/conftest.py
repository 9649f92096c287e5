# SPDX-License-Identifier: Apache-2.0
import os

os.environ.setdefault("TORCH_DEVICE_BACKEND_AUTOLOAD", "0")  # the oracle is torch on the CPU
# The oracles compute exactly; tests/end_to_end/test_device_rounding.py looks at the device's roundings.
os.environ["ANYNPU_EXACT"] = "1"
