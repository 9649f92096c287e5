# SPDX-License-Identifier: Apache-2.0
"""Runs a script several times and names the first operator whose result is not the same each time."""

WHERE = "where.txt"  # in the folder of digests: the line of the operator that was asked for
