// SPDX-License-Identifier: Apache-2.0
// The index tensors of self[a, :, b], with NumPy's rule where the indexed axes go.
#pragma once

#include <functional>
#include <vector>

#include "ops/index/indexed.h"

namespace npu::ops {

class IndexList {
 public:
  /// Whether a shape can be the result's: that of what is read, or one to which what is written expands.
  using Fits = std::function<bool(const Dims&)>;

  /// `indices`: one entry per leading axis of self; an axis that is not indexed has an undefined tensor, or one of
  /// shape {0} as the client's placeholder. `fits` decides whether an empty index of int64 or int32 is a placeholder.
  /// Raises 161002 for masks, too many indices and shapes that do not broadcast.
  IndexList(const Tensor& self, const std::vector<Tensor>& indices, const Fits& fits);

  /// self as the loop sees it: its shape is the result's, indexed axes have stride 0.
  const Tensor& view() const { return view_; }
  /// The broadcast shape of the index tensors, laid over the view's axes from `first_axis` on.
  const Dims& index_shape() const { return index_shape_; }
  size_t first_axis() const { return first_axis_; }
  const std::vector<IndexAxis>& axes() const { return axes_; }

 private:
  void build(const Tensor& self, const std::vector<Tensor>& indices, const std::vector<bool>& selects_nothing);
  void place(const Tensor& self, const std::vector<bool>& indexed);
  Tensor view_;
  Dims index_shape_;
  size_t first_axis_ = 0;
  std::vector<IndexAxis> axes_;
};

}  // namespace npu::ops
