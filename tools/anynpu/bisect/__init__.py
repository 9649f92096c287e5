# SPDX-License-Identifier: Apache-2.0
"""Finds the fewest fusion passes, or nodes of reduced precision, without which a script's loss is right again."""
