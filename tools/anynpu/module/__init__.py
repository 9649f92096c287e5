# SPDX-License-Identifier: Apache-2.0
"""For which module of PyTorch a thread works: noted down while `anynpu profile` records a script."""
