// SPDX-License-Identifier: Apache-2.0
// Tensors as collectives take them: row by row, and in device memory, where other ranks can reach it.
#pragma once

#include "base/tensor.h"
#include "comm/collective/collective.h"

namespace npu::comm {

class Reachable {
 public:
  /// `tensor` itself where it lies so; else memory of its own on `device`, whose content is undefined.
  Reachable(const Tensor& tensor, int device);
  ~Reachable();
  Reachable(const Reachable&) = delete;
  Reachable& operator=(const Reachable&) = delete;

  const Tensor& dense() const { return dense_; }
  void* data() const { return block_ != nullptr ? block_ : dense_.data; }
  /// Brings the tensor's elements into memory of its own; back from there.
  void load();
  void store();

 private:
  const Tensor tensor_;
  void* block_ = nullptr;  // as peers name it
  Tensor dense_;           // as kernels see it
};

/// Of a matrix of `columns`, which all ranks must have alike.
Element element_of(DType dtype, int64_t columns);

}  // namespace npu::comm
