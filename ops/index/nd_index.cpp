// SPDX-License-Identifier: Apache-2.0
#include "ops/index/nd_index.h"

namespace npu::ops {

NdIndex nd_index(const Tensor& target, const Tensor& indices, bool negative) {
  require(indices.rank() >= 1 && indices.shape.back() <= static_cast<int64_t>(target.rank()),
          "indices is {}, self is {}: the last size of indices is the number of leading dimensions it names", indices,
          target);
  Tensor column = indices;
  column.shape.pop_back();
  column.strides.pop_back();
  NdIndex out{target, column.shape, {}};
  // Each column of indices is an index tensor of its own; their offsets add up.
  for (int64_t k = 0; k < indices.shape.back(); ++k) {
    Tensor one = column;
    one.offset += k * indices.strides.back();
    const auto axis = static_cast<size_t>(k);
    out.axes.push_back({one, target.shape[axis], target.strides[axis], negative, fmt::format("indices[..., {}]", k)});
    out.view.shape.erase(0);
    out.view.strides.erase(0);
  }
  for (size_t i = column.rank(); i-- > 0;) {
    out.view.shape.insert(0, column.shape[i]);
    out.view.strides.insert(0, 0);
  }
  return out;
}

}  // namespace npu::ops
