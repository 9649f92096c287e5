// SPDX-License-Identifier: Apache-2.0
// The points of a grid over an image or a volume, moved by one affine map a sample: what grid_sample takes.
// Computed in double: a point that falls between two elements must fall the same way as one that a framework made, for
// every dtype of the client's.
#include "ops/operator.h"
#include "ops/scratch.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

struct AffineGrid final : Operator {
  Tensor theta, out;
  std::vector<int64_t> size;
  bool align_corners = false;
  Rows maps, grids;

  void prepare() override {
    require(size.size() == 4 || size.size() == 5, "size has {} numbers; it is N, C, H, W or N, C, D, H, W",
            size.size());
    axes_ = static_cast<int64_t>(size.size()) - 2;
    require(is_floating(theta.dtype), "theta is {}; it must be floating point", theta);
    check_shape(theta, "theta", {size[0], axes_, axes_ + 1});
    Dims shape{size[0]};
    for (size_t i = 2; i < size.size(); ++i) shape.push_back(size[i]);
    shape.push_back(axes_);
    check_shape(out, "out", shape);
    // The innermost dimension of the image is a row, so each row starts from one point.
    const size_t map_axes[2] = {1, 2}, row_axes[2] = {out.rank() - 2, out.rank() - 1};
    maps = Rows(theta, map_axes, DType::kDouble);
    grids = Rows(out, row_axes, DType::kDouble);
  }
  void run() override {
    for_rows(grids, [this](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) run_row(row);
    });
  }
  int64_t cost() const override { return 500 + 5 * out.count(); }

 private:
  // Position `i` of `count` from -1 to 1; without align_corners the ends are half a step further in.
  double position(int64_t i, int64_t count) const {
    // One element lies in the middle, with align_corners as without.
    if (count <= 1) return 0;
    const auto n = static_cast<double>(count), at = static_cast<double>(i);
    return align_corners ? 2 * at / (n - 1) - 1 : (2 * at + 1) / n - 1;
  }
  void run_row(int64_t row) const {
    const int64_t width = size.back();
    const Scratch<double> map_buffer(axes_ * (axes_ + 1)), buffer(width * axes_);
    // Rows of the grid count samples outermost; what is left of `row` after the image's axes is the sample.
    int64_t sample = row;
    double point[4] = {0, 0, 0, 1};  // x, y, (z,) 1
    for (int64_t axis = 1; axis < axes_; ++axis) {
      const int64_t count = size[static_cast<size_t>(axes_ + 1 - axis)];
      point[axis] = position(sample % count, count);
      sample /= count;
    }
    point[axes_] = 1;
    const auto* map = static_cast<const double*>(maps.load(sample, map_buffer));
    auto* to = static_cast<double*>(grids.target(row, buffer));
    for (int64_t i = 0; i < width; ++i) {
      point[0] = position(i, width);
      for (int64_t axis = 0; axis < axes_; ++axis) {
        double sum = 0;
        for (int64_t k = 0; k <= axes_; ++k) sum += map[axis * (axes_ + 1) + k] * point[k];
        to[i * axes_ + axis] = sum;
      }
    }
    grids.store(row, to);
  }
  int64_t axes_ = 2;
};

NPU_OPERATOR(AffineGrid, "affine_grid", "image", in<&AffineGrid::theta>("theta"), attr<&AffineGrid::size>("size"),
             attr<&AffineGrid::align_corners>("align_corners"), out<&AffineGrid::out>("out"));

}  // namespace
}  // namespace npu::ops
