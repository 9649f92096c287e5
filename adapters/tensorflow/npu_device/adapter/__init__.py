# SPDX-License-Identifier: Apache-2.0
"""libanynpu_tensorflow.so, the adapter in C++, as Python calls it."""
