// SPDX-License-Identifier: Apache-2.0
#include "ops/index/index_list.h"

namespace npu::ops {

IndexList::IndexList(const Tensor& self, const std::vector<Tensor>& indices, const Dims& result_shape) {
  require(indices.size() <= self.rank(), "{} indices for self {}; at most one per dimension", indices.size(), self);
  // The client passes an empty tensor where an axis is not indexed, and the same thing may be an index that selects
  // nothing. The result's shape tells them apart.
  build(self, indices, true);
  const bool has_empty = std::any_of(indices.begin(), indices.end(), [](const Tensor& t) {
    return t.defined() && t.rank() == 1 && t.shape[0] == 0 && is_integer(t.dtype);
  });
  if (has_empty && !(view_.shape == result_shape)) build(self, indices, false);
}

void IndexList::build(const Tensor& self, const std::vector<Tensor>& indices, bool empty_is_placeholder) {
  std::vector<bool> indexed(self.rank(), false);
  axes_.clear();
  index_shape_ = Dims();
  for (size_t i = 0; i < indices.size(); ++i) {
    const Tensor& index = indices[i];
    if (!index.defined()) continue;
    const bool empty = index.rank() == 1 && index.shape[0] == 0;
    if (empty && (empty_is_placeholder || !is_integer(index.dtype))) continue;
    // bool and uint8 would be masks; the client turns those into positions before it calls.
    require(index.dtype != DType::kBool && index.dtype != DType::kUInt8,
            "indices[{}] is {}; pass the positions of a mask (nonzero), not the mask", i, index);
    indexed[i] = true;
    // Index tensors broadcast against each other, and their common shape takes the place of the axes they index.
    index_shape_ = broadcast(index_shape_, index.shape);
    axes_.push_back({index, self.shape[i], self.strides[i], true, fmt::format("indices[{}]", i)});
  }
  place(self, indexed);
}

// Adjacent indexed axes are replaced where they stand; others move to the front.
void IndexList::place(const Tensor& self, const std::vector<bool>& indexed) {
  size_t first = 0, last = 0, count = 0;
  for (size_t i = 0; i < self.rank(); ++i) {
    if (!indexed[i]) continue;
    if (count++ == 0) first = i;
    last = i;
  }
  const bool adjacent = count > 0 && last - first + 1 == count;
  first_axis_ = adjacent ? first : 0;
  view_ = self;
  view_.shape = Dims();
  view_.strides = Dims();
  // Stride 0: where these axes point is the offsets' business.
  const auto add_index_axes = [&] {
    for (const int64_t size : index_shape_) {
      view_.shape.push_back(size);
      view_.strides.push_back(0);
    }
  };
  if (!adjacent && count > 0) add_index_axes();
  for (size_t i = 0; i < self.rank(); ++i) {
    if (adjacent && i == first) add_index_axes();
    if (indexed[i]) continue;
    view_.shape.push_back(self.shape[i]);
    view_.strides.push_back(self.strides[i]);
  }
}

}  // namespace npu::ops
