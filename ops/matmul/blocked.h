// SPDX-License-Identifier: Apache-2.0
// The blocked layout of weights of matrix products, ACL_FORMAT_FRACTAL_NZ of the C interface: a matrix is cut into
// blocks of 16 rows of 32 bytes, padded with zeros; blocks lie in memory column of blocks after column of blocks.
#pragma once

#include "base/tensor.h"
#include "ops/scratch.h"

namespace npu::ops {

inline constexpr int32_t kBlockedFormat = 29;

/// The format of blocks that are `width` elements wide. Blocks of 32 bytes have the plain number; what torch-npu casts
/// has blocks of 16 elements also where those take 64 bytes, and the upper half of the number then says so.
inline int32_t blocked_format(int64_t width, DType dtype) {
  const bool usual = width * static_cast<int64_t>(size_of(dtype)) == 32;
  return usual ? kBlockedFormat : kBlockedFormat | static_cast<int32_t>(width) << 16;
}
constexpr bool is_blocked(int32_t format) { return (format & 0xFFFF) == kBlockedFormat; }

/// Elements that a weight of `shape` takes once it is blocked; leading axes are a batch of matrices. Raises 161002 for
/// a rank below 2 and for a dtype that has no blocked layout.
int64_t blocked_elements(const Dims& shape, DType dtype);

/// Copies between row-major memory and blocks of the format of `blocked`, whose shape is that of the plain tensor.
/// Blocks are filled up with zeros.
void pack(const std::byte* plain, const Tensor& blocked);
void unpack(const Tensor& blocked, std::byte* plain);

/// Where the elements of one matrix in blocks are stored: (row, column) at column / width * step + row * width +
/// column % width.
struct BlockSteps {
  int64_t width, step;
};
BlockSteps block_steps(const Dims& shape, DType dtype, int32_t format);

/// What a matrix in blocks takes, by its shape and its format.
int64_t blocked_bytes(const Tensor& blocked);

/// Raises 161002 unless `bytes` from `data` on are live, where `data` is device memory.
void check_room(const void* data, int64_t bytes, const char* name);

/// Rearranges a row-major weight in its own memory, which holds blocked_elements() of its shape.
void block(const Tensor& weight);

/// A weight that may be blocked, for operators that compute on plain ones.
class PlainWeight {
 public:
  /// Refuses (161002) blocked views that are not a whole weight or its transpose. Plain weights are always fine.
  void plan(const Tensor& weight, const char* name);
  /// `weight` as it is, or, if it is blocked and the operator does not read blocks, its elements in `room` under the
  /// same strides.
  Tensor of(const Tensor& weight, Scratch<std::byte>& room, bool reads_blocks = false) const;

 private:
  Dims rows_first_;  ///< the row-major shape behind the view; empty for plain weights
};

}  // namespace npu::ops
