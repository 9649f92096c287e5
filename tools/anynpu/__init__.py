# SPDX-License-Identifier: Apache-2.0
"""AnyNPU: a software Ascend NPU. The work is in libanynpu.so; this package finds it and types its reports."""
