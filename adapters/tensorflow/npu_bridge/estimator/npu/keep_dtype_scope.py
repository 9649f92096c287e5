# SPDX-License-Identifier: Apache-2.0
"""Another place of npu_scope.keep_dtype_scope."""

from npu_bridge.estimator.npu.npu_scope import keep_dtype_scope

__all__ = ["keep_dtype_scope"]
