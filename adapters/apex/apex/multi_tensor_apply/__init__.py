# SPDX-License-Identifier: Apache-2.0
"""Calls an operation with lists of tensors."""


class MultiTensorApply:
    available = True
    warned = False

    def __init__(self, chunk_size):
        self.chunk_size = chunk_size

    def __call__(self, op, noop_flag_buffer, tensor_lists, *args):
        """`op(chunk_size, noop flag, lists, ...)`: Apex's operations are CUDA code, so `op` is the script's own."""
        if not callable(op):
            raise NotImplementedError(
                "multi_tensor_applier: amp_C's CUDA operations are not built; use torch._foreach_*"
            )
        return op(self.chunk_size, noop_flag_buffer, tensor_lists, *args)


multi_tensor_applier = MultiTensorApply(2048 * 32)

__all__ = ["MultiTensorApply", "multi_tensor_applier"]
