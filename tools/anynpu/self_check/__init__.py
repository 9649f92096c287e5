# SPDX-License-Identifier: Apache-2.0
"""Executed operators computed once more from their own inputs, by NumPy in float64, and compared."""
