# SPDX-License-Identifier: Apache-2.0
"""Operators of PyTorch that torch-npu runs on the host: which, how often, and called by which line."""
