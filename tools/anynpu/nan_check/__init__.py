# SPDX-License-Identifier: Apache-2.0
"""The operator that made the first infinity or NaN, and the line of the user's code that called it."""
