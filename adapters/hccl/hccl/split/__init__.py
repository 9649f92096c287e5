# SPDX-License-Identifier: Apache-2.0
"""Which gradients are sent together."""
