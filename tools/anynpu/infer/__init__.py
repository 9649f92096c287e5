# SPDX-License-Identifier: Apache-2.0
"""Models of files (.om), run from Python: `from anynpu.infer import InferSession`, of the use of ais_bench's."""

from anynpu.infer.session import InferSession

__all__ = ["InferSession"]
