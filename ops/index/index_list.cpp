// SPDX-License-Identifier: Apache-2.0
#include "ops/index/index_list.h"

namespace npu::ops {

namespace {

bool is_empty(const Tensor& index) { return index.defined() && index.rank() == 1 && index.shape[0] == 0; }

}  // namespace

// An empty tensor is either the client's placeholder for an axis that is not indexed, or an index that selects nothing.
// The shape of the result decides. If several interpretations fit, as with a single value to write, the one with the
// most placeholders is used; at least one entry of the list is an index.
IndexList::IndexList(const Tensor& self, const std::vector<Tensor>& indices, const Fits& fits) {
  require(indices.size() <= self.rank(), "{} indices for self {}; at most one per dimension", indices.size(), self);
  std::vector<size_t> doubtful;
  Dims common;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (!is_empty(indices[i])) {
      common = indices[i].defined() ? broadcast(common, indices[i].shape) : common;
    } else if (indices[i].dtype == DType::kInt64 || indices[i].dtype == DType::kInt32) {
      doubtful.push_back(i);
    }
  }
  if (common.size() > 0 && common.back() > 1) doubtful.clear();  // no position goes with one position, not with several
  for (uint32_t choice = 0; choice < 1U << doubtful.size(); ++choice) {
    std::vector<bool> selects_nothing(indices.size(), false);
    for (size_t bit = 0; bit < doubtful.size(); ++bit) selects_nothing[doubtful[bit]] = (choice >> bit & 1U) != 0;
    build(self, indices, selects_nothing);
    if ((doubtful.empty() || !axes_.empty()) && fits(view_.shape)) return;
  }
}

void IndexList::build(const Tensor& self, const std::vector<Tensor>& indices,
                      const std::vector<bool>& selects_nothing) {
  std::vector<bool> indexed(self.rank(), false);
  axes_.clear();
  index_shape_ = Dims();
  for (size_t i = 0; i < indices.size(); ++i) {
    const Tensor& index = indices[i];
    if (!index.defined() || (is_empty(index) && !selects_nothing[i])) continue;
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
