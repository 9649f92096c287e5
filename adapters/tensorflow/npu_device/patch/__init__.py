# SPDX-License-Identifier: Apache-2.0
"""What TensorFlow itself does otherwise once a device is open."""
