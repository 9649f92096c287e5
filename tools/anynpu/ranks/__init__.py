# SPDX-License-Identifier: Apache-2.0
"""The ranks of `anynpu launch`: who they are, and how far."""
