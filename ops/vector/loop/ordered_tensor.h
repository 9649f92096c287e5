// SPDX-License-Identifier: Apache-2.0
// A tensor as a sequence: its elements in row-major order, whatever the strides.
#pragma once

#include <cstring>

#include "ops/vector/loop/loop.h"

namespace npu::ops {

/// A tensor written or read in row-major order of its elements, through a slot dtype.
class OrderedTensor {
 public:
  OrderedTensor() = default;
  /// Raises 161002 when the dtype has no conversion to `slot`.
  OrderedTensor(const Tensor& tensor, DType slot)
      : tensor_(tensor),
        loop_(make_ordered_loop(tensor.shape, {&tensor.strides, 1})),
        load_(converter(tensor.dtype, slot)),
        store_(converter(slot, tensor.dtype)),
        slot_size_(static_cast<int64_t>(size_of(slot))) {
    require(load_ != nullptr && store_ != nullptr, "no kernel computes {} in {}; cast the tensor first", tensor.dtype,
            slot);
  }
  bool defined() const { return load_ != nullptr; }
  int64_t count() const { return loop_.count(); }
  void load(int64_t first, int64_t n, void* values) const {
    gather(loop_, 0, tensor_.bytes(), size(), first, n, load_, static_cast<std::byte*>(values), slot_size_);
  }
  void store(int64_t first, int64_t n, const void* values) const {
    scatter(loop_, 0, tensor_.bytes(), size(), first, n, store_, static_cast<const std::byte*>(values), slot_size_);
  }

 private:
  int64_t size() const { return static_cast<int64_t>(size_of(tensor_.dtype)); }
  Tensor tensor_;
  Loop loop_;
  Convert load_ = nullptr;
  Convert store_ = nullptr;
  int64_t slot_size_ = 0;
};

}  // namespace npu::ops
