// SPDX-License-Identifier: Apache-2.0
// im2col: the windows of images as columns, [N, C·kh·kw, L] with one column per window. col2im adds columns up again.
#include "ops/operator.h"
#include "ops/vector/loop/along_dim.h"
#include "ops/vector/loop/ordered_tensor.h"

namespace npu::ops {
namespace {

/// Height and width of an argument given as one or two numbers.
struct Pair {
  int64_t h, w;
};

Pair pair_of(const std::vector<int64_t>& values, const char* name, int64_t least) {
  require(values.size() == 1 || values.size() == 2, "{} has {} numbers; give one or two", name, values.size());
  const Pair p{values[0], values.back()};
  require(p.h >= least && p.w >= least, "{} is {}x{}; it must be {} at least", name, p.h, p.w, least);
  return p;
}

struct Windows : Operator {
  Tensor self, out;
  std::vector<int64_t> kernel_size, dilation{1}, padding{0}, stride{1};
  Pair kernel{}, step{}, pad{}, spread{}, grid{};

 protected:
  /// Plans over an image tensor [N, C, H, W] or [C, H, W]; returns the shape of its columns.
  Dims plan_windows(const Dims& image) {
    require(image.size() == 3 || image.size() == 4, "the image is {}; it has 3 or 4 dimensions", image);
    kernel = pair_of(kernel_size, "kernel_size", 1);
    spread = pair_of(dilation, "dilation", 1);
    pad = pair_of(padding, "padding", 0);
    step = pair_of(stride, "stride", 1);
    const size_t r = image.size();
    grid = {(image[r - 2] + 2 * pad.h - spread.h * (kernel.h - 1) - 1) / step.h + 1,
            (image[r - 1] + 2 * pad.w - spread.w * (kernel.w - 1) - 1) / step.w + 1};
    require(grid.h > 0 && grid.w > 0, "windows of {}x{} do not fit an image of {}", kernel.h, kernel.w, image);
    Dims columns;
    if (r == 4) columns.push_back(image[0]);
    columns.push_back(image[r - 3] * kernel.h * kernel.w);
    columns.push_back(grid.h * grid.w);
    return columns;
  }
  /// Calls `visit(row, pixel)` for each element of one column row: its position in the row and in the plane.
  template <class F>
  void walk(int64_t height, int64_t width, int64_t tap, F&& visit) const {
    const int64_t dy = tap / kernel.w * spread.h - pad.h, dx = tap % kernel.w * spread.w - pad.w;
    for (int64_t oy = 0; oy < grid.h; ++oy) {
      const int64_t y = oy * step.h + dy;
      if (y < 0 || y >= height) continue;
      for (int64_t ox = 0; ox < grid.w; ++ox) {
        const int64_t x = ox * step.w + dx;
        if (x >= 0 && x < width) visit(oy * grid.w + ox, y * width + x);
      }
    }
  }
};

struct Im2col final : Windows {
  Rows planes, columns;
  void prepare() override {
    check_shape(out, "out", plan_windows(self.shape));
    const size_t axes[] = {self.rank() - 2, self.rank() - 1};
    const DType slot = slot_of(self.dtype);
    planes = Rows(self, axes, slot);
    columns = Rows(out, out.rank() - 1, slot);
  }
  void run() override {
    visit_dtype(slot_of(self.dtype), [this](auto t) { unfold(t); });
  }
  int64_t cost() const override { return 500 + 2 * out.count(); }

 private:
  template <class T>
  void unfold(T) const {
    const int64_t height = self.shape[self.rank() - 2], width = self.shape[self.rank() - 1];
    const int64_t taps = kernel.h * kernel.w;
    parallel_parts(planes.count(), [&](int64_t plane) {
      // Arrays, not vectors: a vector of bools has no elements to point at.
      const auto plane_memory = std::make_unique<T[]>(static_cast<size_t>(planes.length()));
      const auto row_memory = std::make_unique<T[]>(static_cast<size_t>(columns.length()));
      const auto* x = static_cast<const T*>(planes.load(plane, plane_memory.get()));
      for (int64_t tap = 0; tap < taps; ++tap) {
        auto* y = static_cast<T*>(columns.target(plane * taps + tap, row_memory.get()));
        // What the walk leaves out lies in the padding.
        std::fill_n(y, columns.length(), T(0));
        walk(height, width, tap, [&](int64_t at, int64_t pixel) { y[at] = x[pixel]; });
        columns.store(plane * taps + tap, y);
      }
    });
  }
};

struct Col2im final : Windows {
  std::vector<int64_t> output_size;
  Rows planes, columns;
  void prepare() override {
    const Pair size = pair_of(output_size, "output_size", 1);
    require(out.rank() >= 3 && out.shape[out.rank() - 2] == size.h && out.shape[out.rank() - 1] == size.w,
            "out is {}, output_size is {}x{}", out, size.h, size.w);
    check_shape(self, "self", plan_windows(out.shape));
    const size_t axes[] = {out.rank() - 2, out.rank() - 1};
    require(is_floating(out.dtype), "self is {}; adding columns up needs a real floating dtype", self);
    planes = Rows(out, axes, DType::kDouble);
    columns = Rows(self, self.rank() - 1, DType::kDouble);
  }
  void run() override {
    const int64_t height = out.shape[out.rank() - 2], width = out.shape[out.rank() - 1];
    const int64_t taps = kernel.h * kernel.w;
    // A plane belongs to one thread, which adds tap by tap: pixels that several windows share get their terms in one
    // order, in double, rounded once at the store.
    parallel_parts(planes.count(), [&](int64_t plane) {
      std::vector<double> sums(static_cast<size_t>(planes.length())), row(static_cast<size_t>(columns.length()));
      auto* y = static_cast<double*>(planes.target(plane, sums.data()));
      std::fill_n(y, planes.length(), 0.0);
      for (int64_t tap = 0; tap < taps; ++tap) {
        const auto* x = static_cast<const double*>(columns.load(plane * taps + tap, row.data()));
        walk(height, width, tap, [&](int64_t at, int64_t pixel) { y[pixel] += x[at]; });
      }
      planes.store(plane, y);
    });
  }
  int64_t cost() const override { return 500 + 2 * self.count(); }
};

#define NPU_WINDOW_FIELDS(type)                                                                        \
  in<&type::self>("self"), attr<&type::kernel_size>("kernel_size"), attr<&type::dilation>("dilation"), \
      attr<&type::padding>("padding"), attr<&type::stride>("stride"), out<&type::out>("out")
NPU_OPERATOR(Im2col, "im2col", "shape", NPU_WINDOW_FIELDS(Im2col)).is(kMovesBits);
NPU_OPERATOR(Col2im, "col2im", "shape", NPU_WINDOW_FIELDS(Col2im), attr<&Col2im::output_size>("output_size"));

}  // namespace
}  // namespace npu::ops
