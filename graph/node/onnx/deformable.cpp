// SPDX-License-Identifier: Apache-2.0
// DeformConv: a convolution whose windows read where offsets say. What each window reads becomes a column; columns
// times the weight are the result.
#include <cmath>

#include "base/thread_pool.h"
#include "graph/node/onnx/convolution.h"
#include "graph/node/onnx/floats.h"

namespace npu::graph::onnx {
namespace {

/// Sizes of one image and its windows.
struct Sheet {
  int64_t channels, height, width, offset_groups;
  Windows windows;
  int64_t kernel() const { return windows.kernel[0] * windows.kernel[1]; }
  int64_t positions() const { return windows.out[0] * windows.out[1]; }
};

/// Between four elements; those outside of the plane are 0.
template <class T>
double between(const T* plane, const Sheet& s, double y, double x) {
  const double top = std::floor(y), left = std::floor(x);
  double sum = 0;
  for (const int64_t down : {0, 1})
    for (const int64_t along : {0, 1}) {
      const int64_t i = static_cast<int64_t>(top) + down, j = static_cast<int64_t>(left) + along;
      if (i < 0 || i >= s.height || j < 0 || j >= s.width) continue;
      const double weight = (down == 1 ? y - top : 1 - (y - top)) * (along == 1 ? x - left : 1 - (x - left));
      sum += weight * static_cast<double>(plane[i * s.width + j]);
    }
  return sum;
}

/// One row of the columns: element k of the windows of channel c, at all positions.
template <class T>
void fill_row(const Sheet& s, const T* image, const T* offsets, const T* mask, int64_t c, int64_t k, T* to) {
  const Windows& w = s.windows;
  const int64_t group = c / (s.channels / s.offset_groups), count = s.positions(), place = group * s.kernel() + k;
  for (int64_t p = 0; p < count; ++p) {
    const int64_t row = p / w.out[1] * w.stride[0] - w.before[0] + k / w.kernel[1] * w.dilation[0];
    const int64_t column = p % w.out[1] * w.stride[1] - w.before[1] + k % w.kernel[1] * w.dilation[1];
    const double y = static_cast<double>(row) + static_cast<double>(offsets[2 * place * count + p]);
    const double x = static_cast<double>(column) + static_cast<double>(offsets[(2 * place + 1) * count + p]);
    // Far places are outside, whatever a number that large becomes as an integer.
    const bool near = y > -1 && y < static_cast<double>(s.height) && x > -1 && x < static_cast<double>(s.width);
    const double value = near ? between(image + c * s.height * s.width, s, y, x) : 0;
    to[p] = static_cast<T>(mask == nullptr ? value : value * static_cast<double>(mask[place * count + p]));
  }
}

void check_offsets(const Lowering& l, const Sheet& s, int64_t batch) {
  const auto check = [&](size_t i, const char* name, int64_t each) {
    const Dims wanted{batch, s.offset_groups * s.kernel() * each, s.windows.out[0], s.windows.out[1]};
    require(l.shape(at(l, i)) == wanted, "{} is {}; it must be {}", name, l.shape(at(l, i)), wanted);
  };
  check(2, "offset", 2);
  if (has(l, 4)) check(4, "mask", 1);
}

Sheet sheet_of(const Lowering& l, const Dims& image, const Dims& weight) {
  require(image.size() == 4, "the images are {}; deformed windows are built for 2 spatial axes", image);
  const Sheet s{image[1], image[2], image[3], int_attribute(l, "offset_group", 1),
                convolution_windows(l, image, weight)};
  require(s.offset_groups > 0 && s.channels % s.offset_groups == 0, "offset_group is {}; there are {} channels",
          s.offset_groups, s.channels);
  check_offsets(l, s, image[0]);
  return s;
}

/// What all windows read, [batch, channels · kernel, positions].
Planned columns_of(Lowering& l, const Sheet& s, int64_t batch, DType slot) {
  const Planned image = rows_of(l, l.input(at(l, 0)), slot), offset = rows_of(l, l.input(at(l, 2)), slot);
  const bool masked = has(l, 4);
  const Planned mask = masked ? rows_of(l, l.input(at(l, 4)), slot) : offset;
  const int64_t rows = s.channels * s.kernel(), count = s.positions();
  const Planned columns = l.scratch(slot, {batch, rows, count});
  l.run({image, offset, mask}, {columns}, [=](Frame& frame) {
    in_slot(slot, [&](auto zero) {
      using T = decltype(zero);
      const T *x = frame.tensor(image).as<T>(), *moved = frame.tensor(offset).as<T>();
      const T* weights = masked ? frame.tensor(mask).as<T>() : nullptr;
      T* to = frame.tensor(columns).as<T>();
      const int64_t each = s.offset_groups * s.kernel() * count;
      parallel_parts(batch * rows, [&](int64_t i) {
        const int64_t n = i / rows, row = i % rows;
        fill_row(s, x + n * s.channels * s.height * s.width, moved + n * 2 * each,
                 weights == nullptr ? nullptr : weights + n * each, row / s.kernel(), row % s.kernel(), to + i * count);
      });
    });
  });
  return columns;
}

void deformed(Lowering& l) {
  require_floats(l, 0);
  const Dims image = l.shape(at(l, 0)), weight = l.shape(at(l, 1));
  const Sheet s = sheet_of(l, image, weight);
  const DType slot = slot_of(l.dtype(0));
  const int64_t groups = int_attribute(l, "group", 1), outs = weight[0] / groups, inner = weight[1] * s.kernel();
  const Result r = result(l, 0, l.dtype(0), convolved_shape(image, weight, s.windows), slot);
  if (r.out.view.count() == 0) return;
  const Planned columns = columns_of(l, s, image[0], slot), filter = rows_of(l, l.input(at(l, 1)), slot);
  l.call("matmul")
      .set("self", reshaped(filter, {1, groups, outs, inner}))
      .set("mat2", reshaped(columns, {image[0], groups, inner, s.positions()}))
      .set("out", reshaped(r.rows, {image[0], groups, outs, s.positions()}));
  if (has(l, 3)) {
    const Planned bias = rows_of(l, l.input(at(l, 3)), slot);
    require(bias.shape() == Dims{weight[0]}, "B is {}; it needs one number for each of {} channels", bias.shape(),
            weight[0]);
    l.call("add").set("self", r.rows).set("other", reshaped(bias, {weight[0], 1, 1})).set("out", r.rows);
  }
  r.store(l);
}

NPU_NODE("ai.onnx::DeformConv", deformed);

}  // namespace
}  // namespace npu::graph::onnx
