// SPDX-License-Identifier: Apache-2.0
// MaxRoiPool: the largest element of each cell of a grid over a box, as Fast R-CNN defines it. A box's corners are
// rounded to elements, both included; cells may overlap by one element, and an empty one gives 0.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/thread_pool.h"
#include "graph/node/onnx/floats.h"

namespace npu::graph::onnx {
namespace {

struct Grid {
  int64_t rows, columns;
  double scale;  ///< elements of the image for one unit of a box's corners
};

/// Elements [first, end) of one axis.
struct Range {
  int64_t first, end;
};

/// Cell `i` of `cells` over a box from `low` to `high`, as far as it is within `size` elements.
Range cell(double low, double high, int64_t i, int64_t cells, int64_t size) {
  const double step = std::max(high - low + 1, 1.0) / static_cast<double>(cells), n = static_cast<double>(size);
  const double first = low + std::floor(static_cast<double>(i) * step),
               end = low + std::ceil(static_cast<double>(i + 1) * step);
  return {static_cast<int64_t>(std::clamp(first, 0.0, n)), static_cast<int64_t>(std::clamp(end, 0.0, n))};
}

template <class T>
T largest(const T* plane, int64_t width, Range rows, Range columns) {
  if (rows.first >= rows.end || columns.first >= columns.end) return 0;
  T best = -std::numeric_limits<T>::infinity();
  for (int64_t y = rows.first; y < rows.end; ++y)
    for (int64_t x = columns.first; x < columns.end; ++x) best = std::max(best, plane[y * width + x]);
  return best;
}

/// A box is the number of its image and its corners x1, y1, x2, y2.
template <class T>
void pool(const Tensor& x, const Tensor& boxes, const Tensor& out, const Grid& g) {
  const int64_t images = x.shape[0], channels = x.shape[1], height = x.shape[2], width = x.shape[3];
  const int64_t cells = g.rows * g.columns;
  for (int64_t r = 0; r < boxes.shape[0]; ++r) {
    const T image = boxes.as<T>()[r * 5];
    require(image >= 0 && image < static_cast<T>(images), "box {} is in image {}; there are {}", r, image, images);
  }
  parallel_parts(boxes.shape[0] * channels, [&](int64_t part) {
    const T* box = boxes.as<T>() + part / channels * 5;
    const auto corner = [&](int64_t i) { return std::round(static_cast<double>(box[i]) * g.scale); };
    const T* plane = x.as<T>() + (static_cast<int64_t>(box[0]) * channels + part % channels) * height * width;
    for (int64_t i = 0; i < cells; ++i)
      out.as<T>()[part * cells + i] = largest(plane, width, cell(corner(2), corner(4), i / g.columns, g.rows, height),
                                              cell(corner(1), corner(3), i % g.columns, g.columns, width));
  });
}

void max_roi_pool(Lowering& l) {
  require_floats(l, 0);
  const Dims image = l.shape(0), &boxes = l.shape(1);
  require(image.size() == 4 && boxes.size() == 2 && boxes[1] == 5,
          "the image is {}, the boxes are {}; they must be [N, C, H, W] and [boxes, 5]", image, boxes);
  const auto sizes = list_attribute(l, "pooled_shape");
  require(sizes.size() == 2 && sizes[0] > 0 && sizes[1] > 0, "pooled_shape is {}; it must be two numbers above 0",
          Dims(sizes));
  const Grid g{sizes[0], sizes[1], float_attribute(l, "spatial_scale", 1)};
  const DType slot = slot_of(l.dtype(0));
  const Planned x = rows_of(l, l.input(0), slot), rois = rows_of(l, l.input(1), slot);
  const Result r = result(l, 0, l.dtype(0), {boxes[0], image[1], g.rows, g.columns}, slot);
  if (r.out.view.count() == 0) return;
  l.run({x, rois}, {r.rows}, [=, out = r.rows](Frame& frame) {
    in_slot(slot, [&](auto zero) { pool<decltype(zero)>(frame.tensor(x), frame.tensor(rois), frame.tensor(out), g); });
  });
  r.store(l);
}

NPU_NODE("ai.onnx::MaxRoiPool", max_roi_pool);

}  // namespace
}  // namespace npu::graph::onnx
