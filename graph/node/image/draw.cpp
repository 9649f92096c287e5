// SPDX-License-Identifier: Apache-2.0
// DrawBoundingBoxes: the edges of boxes, one element wide, over images with channels last.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/thread_pool.h"
#include "graph/node/rows.h"
#include "graph/value/client_text.h"

namespace npu::graph {
namespace {

struct Canvas {
  int64_t height, width, depth;
  int64_t image() const { return height * width * depth; }
};

/// Colours of boxes one after the other: rows of at least `depth` numbers.
struct Palette {
  std::vector<float> numbers;
  int64_t width = 4;
  const float* of(int64_t box) const {
    return numbers.data() + box % (static_cast<int64_t>(numbers.size()) / width) * width;
  }
};

/// Yellow, blue, red, lime, purple, olive, maroon, navy, aqua and fuchsia; gray images get white.
Palette default_palette(int64_t depth) {
  Palette p{{1,   1,   0, 1, 0,   0, 1, 1, 1, 0, 0,   1, 0, 1, 0, 1, 0.5, 0, 0.5, 1,
             0.5, 0.5, 0, 1, 0.5, 0, 0, 1, 0, 0, 0.5, 1, 0, 1, 1, 1, 1,   0, 1,   1},
            4};
  for (size_t i = 0; depth == 1 && i < p.numbers.size(); i += 4) p.numbers[i] = 1;
  return p;
}

/// The element that a corner lies in. What has none, as no number, lies before all of them.
int64_t element_of(float corner, int64_t size) {
  const float at = corner * static_cast<float>(size - 1);
  return std::abs(at) < 9e18F ? static_cast<int64_t>(at) : std::numeric_limits<int64_t>::min();
}

/// Elements of one axis from the first to the last, both included, that a box covers.
struct Edges {
  Edges(float from, float to, int64_t size)
      : low(element_of(from, size)),
        high(element_of(to, size)),
        first(std::max<int64_t>(low, 0)),
        last(std::min(high, size - 1)),
        visible(low <= high && low < size && high >= 0) {}
  bool has(int64_t edge) const { return edge >= first && edge <= last; }
  int64_t low, high, first, last;
  bool visible;
};

template <class T>
void draw_box(const Canvas& c, const float* box, const float* colour, T* image) {
  const Edges rows(box[0], box[2], c.height), columns(box[1], box[3], c.width);
  if (!rows.visible || !columns.visible) return;
  const auto paint = [&](int64_t y, int64_t x) {
    for (int64_t d = 0; d < c.depth; ++d) image[(y * c.width + x) * c.depth + d] = static_cast<T>(colour[d]);
  };
  for (const int64_t y : {rows.low, rows.high})
    for (int64_t x = columns.first; rows.has(y) && x <= columns.last; ++x) paint(y, x);
  for (const int64_t x : {columns.low, columns.high})
    for (int64_t y = rows.first; columns.has(x) && y <= rows.last; ++y) paint(y, x);
}

void check_drawing(const Lowering& l) {
  const Dims &images = l.shape(0), &boxes = l.shape(1);
  require(images.size() == 4, "The rank of the images should be 4");
  require(boxes.size() == 3, "The rank of the boxes tensor should be 3");
  require(images[0] == boxes[0], "The batch sizes should be the same");
  require(images[3] == 4 || images[3] == 1 || images[3] == 3,
          "Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)");
  require(boxes[2] == 4, "The size of the third dimension of the box must be 4. Received: {}", boxes[2]);
  if (l.input_count() < 3) return;
  const Dims& colours = l.shape(2);
  require(colours.size() == 2, "colors must be a 2-D matrix{}", client_text(colours));
  require(colours[1] >= images[3], "colors must have equal or more channels than the image provided: {}",
          client_text(colours));
}

Palette palette_in(const Frame& frame, const Planned& colours, int64_t depth) {
  const Tensor table = frame.tensor(colours);
  if (table.count() == 0) return default_palette(depth);
  return {{table.as<float>(), table.as<float>() + table.count()}, table.shape[1]};
}

void draw(Lowering& l) {
  check_drawing(l);
  const DType dtype = l.dtype(0);
  if (dtype != DType::kFloat && dtype != DType::kHalf) l.decline("images of this type are left to the client");
  const Dims shape = l.shape(0);
  const Canvas canvas{shape[1], shape[2], shape[3]};
  const Planned out = l.make(0, dtype, shape), boxes = rows_of(l, l.input(1), DType::kFloat);
  copy(l, l.input(0), out);
  const bool coloured = l.input_count() > 2;
  const Planned colours = coloured ? rows_of(l, l.input(2), DType::kFloat) : boxes;
  const int64_t each = boxes.shape()[1];
  l.run({boxes, colours}, {out}, [=, batch = shape[0]](Frame& frame) {
    const Palette palette = coloured ? palette_in(frame, colours, canvas.depth) : default_palette(canvas.depth);
    const auto* box = frame.tensor(boxes).as<float>();
    const Tensor to = frame.tensor(out);
    parallel_parts(batch, [&](int64_t image) {
      for (int64_t i = 0; i < each; ++i) {
        const float* corners = box + (image * each + i) * 4;
        if (dtype == DType::kHalf)
          draw_box(canvas, corners, palette.of(i), to.as<Half>() + image * canvas.image());
        else
          draw_box(canvas, corners, palette.of(i), to.as<float>() + image * canvas.image());
      }
    });
  });
}

NPU_NODE("DrawBoundingBoxes", draw);
NPU_NODE("DrawBoundingBoxesV2", draw);

}  // namespace
}  // namespace npu::graph
