// SPDX-License-Identifier: Apache-2.0
#include "ops/vector/loop/rows.h"

#include <algorithm>

#include "ops/vector/conversion/stored.h"

namespace npu::ops {

Rows::Rows(const Tensor& tensor, std::span<const size_t> axes, DType slot)
    : base_(tensor.bytes()),
      in_(converter(tensor.dtype, slot)),
      out_(converter(slot, tensor.dtype)),
      size_(static_cast<int64_t>(size_of(tensor.dtype))),
      slot_size_(static_cast<int64_t>(size_of(slot))) {
  require(in_ != nullptr && out_ != nullptr, "no kernel computes {} in {}; cast the tensor first", tensor.dtype, slot);
  Dims inner_shape, inner_strides, outer_shape, outer_strides;
  for (const size_t axis : axes) {
    if (axis >= tensor.rank()) continue;  // a 0-dim tensor is one row of one element
    inner_shape.push_back(tensor.shape[axis]);
    inner_strides.push_back(tensor.strides[axis]);
  }
  for (size_t axis = 0; axis < tensor.rank(); ++axis) {
    if (std::find(axes.begin(), axes.end(), axis) != axes.end()) continue;
    outer_shape.push_back(tensor.shape[axis]);
    outer_strides.push_back(tensor.strides[axis]);
  }
  // Axes keep their order, unlike in element-wise loops: positions within a row have a meaning.
  inner_ = make_ordered_loop(inner_shape, {&inner_strides, 1});
  outer_ = make_ordered_loop(outer_shape, {&outer_strides, 1});
  length_ = inner_.count();
  direct_ = reads_as(tensor.dtype, slot) && inner_.dense(0);
}

std::byte* Rows::first(int64_t index) const {
  // The usual case: all outer axes merge into one, and no division is needed.
  if (outer_.shape.size() == 1) return base_ + index * outer_.strides[0][0] * size_;
  int64_t offset = 0;
  for (size_t axis = outer_.shape.size(); axis-- > 0;) {
    offset += index % outer_.shape[axis] * outer_.strides[0][axis];
    index /= outer_.shape[axis];
  }
  return base_ + offset * size_;
}

const void* Rows::load(int64_t index, void* buffer) const {
  const std::byte* from = first(index);
  if (direct_) return from;
  gather(inner_, 0, from, size_, 0, length_, in_, static_cast<std::byte*>(buffer), slot_size_);
  return buffer;
}

void* Rows::target(int64_t index, void* buffer) const { return direct_ ? first(index) : buffer; }

void Rows::store(int64_t index, const void* buffer) const {
  if (direct_) return;
  scatter(inner_, 0, first(index), size_, 0, length_, out_, static_cast<const std::byte*>(buffer), slot_size_);
}

}  // namespace npu::ops
