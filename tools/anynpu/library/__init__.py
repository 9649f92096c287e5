# SPDX-License-Identifier: Apache-2.0
"""libanynpu.so: where this installation has it, and what it tells."""
