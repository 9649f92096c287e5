// SPDX-License-Identifier: Apache-2.0
// A tensor seen as rows: some axes form the row, the others number the rows. Softmax, normalisation, sorting, scans and
// everything else that works along dimensions reads and writes rows of a compute dtype through this, whatever the
// strides and the dtype in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ops/vector/conversion/convert.h"
#include "ops/vector/loop/loop.h"

namespace npu::ops {

class Rows {
 public:
  Rows() = default;
  /// `axes`: the axes of `tensor` that make one row, in order (row-major inside the row). Rows are numbered row-major
  /// over the other axes. Raises 161002 when the dtype has no conversion to `slot`.
  Rows(const Tensor& tensor, std::span<const size_t> axes, DType slot);
  /// One axis as the row.
  Rows(const Tensor& tensor, size_t axis, DType slot) : Rows(tensor, {&axis, 1}, slot) {}

  int64_t count() const { return outer_.count(); }
  int64_t length() const { return length_; }
  /// Bytes of one row in the slot's dtype: what `buffer` below must hold.
  int64_t row_bytes() const { return length_ * slot_size_; }
  /// True when rows lie in memory side by side in the slot's dtype, so that no buffer is used.
  bool direct() const { return direct_; }

  /// Row `index` as contiguous slot elements: in place if possible, else converted into `buffer`.
  const void* load(int64_t index, void* buffer) const;
  /// Where to write row `index`: in place if possible, else `buffer`, to be handed to `store`.
  void* target(int64_t index, void* buffer) const;
  /// Writes a row that was prepared at `target(index, buffer)`.
  void store(int64_t index, const void* buffer) const;

 private:
  std::byte* first(int64_t index) const;

  std::byte* base_ = nullptr;
  Loop outer_;
  Loop inner_;
  Convert in_ = nullptr;
  Convert out_ = nullptr;
  int64_t length_ = 0;
  int64_t size_ = 0;
  int64_t slot_size_ = 0;
  bool direct_ = false;
};

}  // namespace npu::ops
