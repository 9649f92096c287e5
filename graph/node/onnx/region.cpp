// SPDX-License-Identifier: Apache-2.0
// Parts of images: sampled at points, at boxes, put together from columns, cut out, and boxes that are chosen.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/thread_pool.h"
#include "graph/node/onnx/floats.h"
#include "graph/node/onnx/window.h"

namespace npu::graph::onnx {
namespace {

int64_t one_of(const Lowering& l, const char* name, const std::string& otherwise,
               std::initializer_list<std::pair<const char*, int64_t>> known) {
  const std::string value = text_attribute(l, name, otherwise);
  for (const auto& [text, number] : known)
    if (value == text) return number;
  fail(Code::kNnInvalidParam, "{} is '{}', which is not known", name, value);
}

void grid_sample(Lowering& l) {
  require_floats(l, 0);
  const Dims &image = l.shape(0), &grid = l.shape(1);
  require((image.size() == 4 || image.size() == 5) && grid.size() == image.size(),
          "the image is {}, the grid is {}; both need 4 or 5 axes", image, grid);
  const int64_t mode =
      one_of(l, "mode", "linear", {{"bilinear", 0}, {"linear", 0}, {"nearest", 1}, {"bicubic", 2}, {"cubic", 2}});
  Dims shape{image[0], image[1]};
  for (size_t i = 1; i + 1 < grid.size(); ++i) shape.push_back(grid[i]);
  const Planned out = l.make(0, l.dtype(0), shape);
  if (out.view.count() == 0) return;
  l.call("grid_sampler")
      .set("input", l.input(0))
      .set("grid", l.input(1))
      .set("interpolation_mode", mode)
      .set("padding_mode", one_of(l, "padding_mode", "zeros", {{"zeros", 0}, {"border", 1}, {"reflection", 2}}))
      .set("align_corners", int_attribute(l, "align_corners", 0) != 0)
      .set("spatial", static_cast<int64_t>(image.size()) - 2)
      .set("out", out);
}

void affine_grid(Lowering& l) {
  require_floats(l, 0);
  const std::vector<int64_t> size = l.integers(at(l, 1));
  require(size.size() == 4 || size.size() == 5, "size has {} numbers; it is N, C, H, W or N, C, D, H, W", size.size());
  Dims shape{size[0]};
  for (size_t i = 2; i < size.size(); ++i) shape.push_back(size[i]);
  shape.push_back(static_cast<int64_t>(size.size()) - 2);
  for (const int64_t one : shape) require(one >= 0, "size holds {}; sizes are not negative", one);
  const Planned out = l.make(0, l.dtype(0), shape);
  l.call("affine_grid")
      .set("theta", l.input(0))
      .set("size", size)
      .set("align_corners", int_attribute(l, "align_corners", 0) != 0)
      .set("out", out);
}

/// How boxes are cut into bins and bins into samples.
struct Bins {
  int64_t height, width, samples;
  double scale, offset;
  bool maximum;
};

/// Four elements around a point and their weights; none where it lies outside.
struct Corner {
  int64_t place[4] = {};
  double weight[4] = {};
};
Corner corner_of(double y, double x, int64_t height, int64_t width) {
  const auto rows = static_cast<double>(height), columns = static_cast<double>(width);
  if (y < -1 || y > rows || x < -1 || x > columns) return {};
  const auto split = [](double at, int64_t size, int64_t& low, int64_t& high) {
    at = std::max(at, 0.0);
    low = std::min(static_cast<int64_t>(at), size - 1), high = std::min(low + 1, size - 1);
    return low == size - 1 ? 0.0 : at - static_cast<double>(low);
  };
  int64_t top = 0, bottom = 0, left = 0, right = 0;
  const double down = split(y, height, top, bottom), along = split(x, width, left, right);
  return {{top * width + left, top * width + right, bottom * width + left, bottom * width + right},
          {(1 - down) * (1 - along), (1 - down) * along, down * (1 - along), down * along}};
}

/// A box in the image's elements.
struct Box {
  double y, x, height, width;
};
template <class T>
Box box_of(const T* roi, const Bins& b) {
  const double x = static_cast<double>(roi[0]) * b.scale - b.offset,
               y = static_cast<double>(roi[1]) * b.scale - b.offset;
  double width = static_cast<double>(roi[2]) * b.scale - b.offset - x;
  double height = static_cast<double>(roi[3]) * b.scale - b.offset - y;
  // Without the offset of half an element boxes have at least one.
  if (b.offset == 0) width = std::max(width, 1.0), height = std::max(height, 1.0);
  return {y, x, height, width};
}

/// The mean of the samples, or, as ONNX's definition has it, the largest weighted corner of all of them.
template <class T>
double pooled(const T* image, const Bins& b, const std::vector<Corner>& corners) {
  double sum = 0, best = 0;
  bool first = true;
  for (const Corner& c : corners)
    for (size_t k = 0; k < 4; ++k) {
      const double part = c.weight[k] * static_cast<double>(image[c.place[k]]);
      sum += part;
      best = first ? part : std::max(best, part);
      first = false;
    }
  return b.maximum ? best : corners.empty() ? 0 : sum / static_cast<double>(corners.size());
}

std::vector<Corner> corners_of(const Box& box, const Bins& b, int64_t row, int64_t column, int64_t height,
                               int64_t width) {
  const double tall = box.height / static_cast<double>(b.height), wide = box.width / static_cast<double>(b.width);
  const auto rows = b.samples > 0 ? b.samples : static_cast<int64_t>(std::ceil(tall));
  const auto columns = b.samples > 0 ? b.samples : static_cast<int64_t>(std::ceil(wide));
  std::vector<Corner> out;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      const double y =
          box.y + tall * (static_cast<double>(row) + (static_cast<double>(i) + 0.5) / static_cast<double>(rows));
      const double x =
          box.x + wide * (static_cast<double>(column) + (static_cast<double>(j) + 0.5) / static_cast<double>(columns));
      out.push_back(corner_of(y, x, height, width));
    }
  return out;
}

template <class T>
void align(const Tensor& x, const Tensor& rois, const Tensor& batch, const Tensor& y, const Bins& b) {
  const int64_t channels = x.shape[1], height = x.shape[2], width = x.shape[3], plane = height * width;
  const int64_t each = b.height * b.width;
  parallel_parts(rois.shape[0], [&](int64_t r) {
    const Box box = box_of(rois.as<T>() + r * 4, b);
    const T* image = x.as<T>() + batch.as<int64_t>()[r] * channels * plane;
    T* to = y.as<T>() + r * channels * each;
    for (int64_t bin = 0; bin < each; ++bin) {
      const auto corners = corners_of(box, b, bin / b.width, bin % b.width, height, width);
      for (int64_t c = 0; c < channels; ++c) to[c * each + bin] = static_cast<T>(pooled(image + c * plane, b, corners));
    }
  });
}

void roi_align(Lowering& l) {
  require_floats(l, 0);
  const Dims image = l.shape(0), &boxes = l.shape(1);
  require(image.size() == 4 && boxes.size() == 2 && boxes[1] == 4 && l.shape(2) == Dims{boxes[0]},
          "the image is {}, the boxes are {}, their images {}; they must be [N, C, H, W], [boxes, 4] and [boxes]",
          image, boxes, l.shape(2));
  const bool half = text_attribute(l, "coordinate_transformation_mode",
                                   opset(l) < 16 ? "output_half_pixel" : "half_pixel") == "half_pixel";
  const Bins b{int_attribute(l, "output_height", 1),
               int_attribute(l, "output_width", 1),
               int_attribute(l, "sampling_ratio", 0),
               float_attribute(l, "spatial_scale", 1),
               half ? 0.5 : 0,
               one_of(l, "mode", "avg", {{"avg", 0}, {"max", 1}}) == 1};
  require(b.height > 0 && b.width > 0 && b.samples >= 0, "output_height is {}, output_width {}, sampling_ratio {}",
          b.height, b.width, b.samples);
  const DType slot = slot_of(l.dtype(0));
  const Planned x = rows_of(l, l.input(0), slot), rois = rows_of(l, l.input(1), slot);
  const Planned batch = rows_of(l, l.input(2), DType::kInt64);
  const Result r = result(l, 0, l.dtype(0), {boxes[0], image[1], b.height, b.width}, slot);
  l.run({x, rois, batch}, {r.rows}, [=, out = r.rows](Frame& frame) {
    const Tensor which = frame.tensor(batch);
    for (int64_t i = 0; i < which.count(); ++i)
      require(which.as<int64_t>()[i] >= 0 && which.as<int64_t>()[i] < image[0], "box {} is in image {}; there are {}",
              i, which.as<int64_t>()[i], image[0]);
    in_slot(slot, [&](auto zero) {
      align<decltype(zero)>(frame.tensor(x), frame.tensor(rois), which, frame.tensor(out), b);
    });
  });
  r.store(l);
}

/// Corners of a box, either pair of them given or its middle and sizes.
struct Rectangle {
  float y0, x0, y1, x1;
  float area() const { return (y1 - y0) * (x1 - x0); }
};
Rectangle rectangle_of(const float* box, bool middle) {
  if (middle) return {box[1] - box[3] / 2, box[0] - box[2] / 2, box[1] + box[3] / 2, box[0] + box[2] / 2};
  return {std::min(box[0], box[2]), std::min(box[1], box[3]), std::max(box[0], box[2]), std::max(box[1], box[3])};
}
float overlap(const Rectangle& a, const Rectangle& b) {
  const float height = std::min(a.y1, b.y1) - std::max(a.y0, b.y0), width = std::min(a.x1, b.x1) - std::max(a.x0, b.x0);
  if (height <= 0 || width <= 0) return 0;
  const float both = height * width, either = a.area() + b.area() - both;
  return either > 0 ? both / either : 0;
}

struct Choice {
  int64_t most = 0;
  float overlap = 0, score = 0;
  bool scored = false, middle = false;
};

/// The best of each class, without those that lie over a better one.
std::vector<int64_t> chosen(const Choice& c, const float* boxes, const float* scores, int64_t count) {
  std::vector<int64_t> order, out;
  for (int64_t i = 0; i < count; ++i)
    if (!c.scored || scores[i] > c.score) order.push_back(i);
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
  for (const int64_t i : order) {
    if (std::cmp_greater_equal(out.size(), c.most)) break;
    const Rectangle box = rectangle_of(boxes + i * 4, c.middle);
    const bool covered = std::ranges::any_of(
        out, [&](int64_t other) { return overlap(rectangle_of(boxes + other * 4, c.middle), box) > c.overlap; });
    if (!covered) out.push_back(i);
  }
  return out;
}

template <class T>
T only(const Frame& frame, const Planned& planned) {
  const Tensor t = frame.tensor(planned);
  require(t.count() == 1, "an input is {}; it must be one number", t);
  return *t.as<T>();
}

void non_max_suppression(Lowering& l) {
  const Dims &boxes = l.shape(0), &scores = l.shape(1);
  require(boxes.size() == 3 && boxes[2] == 4 && scores.size() == 3 && scores[0] == boxes[0] && scores[2] == boxes[1],
          "the boxes are {}, the scores {}; they must be [images, boxes, 4] and [images, classes, boxes]", boxes,
          scores);
  const Planned from = rows_of(l, l.input(0), DType::kFloat), values = rows_of(l, l.input(1), DType::kFloat);
  const auto more = [&](size_t i, DType type) { return has(l, i) ? rows_of(l, l.input(at(l, i)), type) : from; };
  const Planned most = more(2, DType::kInt64), limit = more(3, DType::kFloat), least = more(4, DType::kFloat);
  const bool given[] = {has(l, 2), has(l, 3), has(l, 4)};
  const bool middle = int_attribute(l, "center_point_box", 0) != 0;
  const int64_t images = scores[0], classes = scores[1], count = scores[2];
  const Planned out = l.dynamic(0, DType::kInt64);
  l.run({from, values, most, limit, least, out}, [=](Frame& frame) {
    Choice c;
    c.middle = middle;
    if (given[0]) c.most = only<int64_t>(frame, most);
    if (given[1]) c.overlap = only<float>(frame, limit);
    if (given[2]) c.score = only<float>(frame, least), c.scored = true;
    const float *box = frame.tensor(from).as<float>(), *score = frame.tensor(values).as<float>();
    std::vector<int64_t> rows;
    for (int64_t n = 0; n < images; ++n)
      for (int64_t k = 0; k < classes; ++k)
        for (const int64_t i : chosen(c, box + n * count * 4, score + (n * classes + k) * count, count))
          rows.insert(rows.end(), {n, k, i});
    Value value = make_value(frame.device(), DType::kInt64, {static_cast<int64_t>(rows.size()) / 3, 3});
    std::ranges::copy(rows, value.tensor.as<int64_t>());
    frame.set(out, std::move(value));
  });
}

int64_t product_of(const std::vector<int64_t>& sizes) { return count_of(Dims(sizes)); }

/// One plane from its columns, [elements of the block, positions].
template <class T>
void add_columns(const Windows& w, const std::vector<int64_t>& image, const T* column, T* to) {
  each_position(w.kernel, [&](const std::vector<int64_t>& k) {
    each_position(w.out, [&](const std::vector<int64_t>& at) {
      int64_t place = 0;
      bool outside = false;
      for (size_t d = 0; d < at.size(); ++d) {
        const int64_t i = at[d] * w.stride[d] - w.before[d] + k[d] * w.dilation[d];
        outside = outside || i < 0 || i >= image[d];
        place = place * image[d] + i;
      }
      if (!outside) to[place] += *column;
      ++column;
    });
  });
}

/// Blocks that lie over each other are added up: the turned im2col, over any number of axes.
void columns_to_image(Lowering& l) {
  const Dims& in = l.shape(0);
  const std::vector<int64_t> image = l.integers(at(l, 1)), block = l.integers(at(l, 2));
  require(in.size() == 3 && image.size() == block.size() && !image.empty(),
          "the input is {}, image_shape has {} numbers, block_shape {}; it must be [N, C · block, L]", in, image.size(),
          block.size());
  for (const int64_t size : image) require(size > 0, "image_shape holds {}; sizes are above 0", size);
  const Windows w = windows_of(l, image, block);
  const int64_t blocks = product_of(w.out), inside = product_of(block), plane = product_of(image);
  require(in[1] % inside == 0 && in[2] == blocks,
          "the input is {}; image {} and block {} make blocks of {} elements, {} of them", in, Dims(image), Dims(block),
          inside, blocks);
  Dims shape{in[0], in[1] / inside};
  for (const int64_t one : image) shape.push_back(one);
  const DType slot = slot_of(l.dtype(0));
  const Planned from = rows_of(l, l.input(0), slot);
  const Result r = result(l, 0, l.dtype(0), shape, slot);
  fill(l, r.rows, Scalar(0));
  if (r.out.view.count() == 0) return;
  l.run({from, r.rows}, [=, out = r.rows, planes = shape[0] * shape[1]](Frame& frame) {
    const Tensor x = frame.tensor(from), y = frame.tensor(out);
    in_slot(slot, [&](auto zero) {
      using T = decltype(zero);
      parallel_parts(planes,
                     [&](int64_t p) { add_columns(w, image, x.as<T>() + p * inside * blocks, y.as<T>() + p * plane); });
    });
  });
  r.store(l);
}

/// Cut or filled up with zeros on both sides alike.
void center_crop_pad(Lowering& l) {
  const Planned in = l.input(0);
  Dims shape = in.shape();
  std::vector<int64_t> axes = list_attribute(l, "axes");
  if (axes.empty()) {
    axes.resize(shape.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  const std::vector<int64_t> sizes = l.integers(at(l, 1));
  require(sizes.size() == axes.size(), "shape has {} numbers for {} axes", sizes.size(), axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    require(sizes[i] >= 0, "shape holds {}; sizes are not negative", sizes[i]);
    shape[checked_axis(axes[i], shape.size())] = sizes[i];
  }
  const Planned out = l.make(0, in.dtype(), shape);
  Planned from = in, to = out;
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t have = in.shape()[d], want = shape[d], both = std::min(have, want);
    from = narrowed(from, d, (have - both) / 2, both);
    to = narrowed(to, d, (want - both) / 2, both);
  }
  fill(l, out, Scalar(0));
  if (from.view.count() > 0) copy(l, from, to);
}

NPU_NODE("ai.onnx::GridSample", grid_sample);
NPU_NODE("ai.onnx::AffineGrid", affine_grid);
NPU_NODE("ai.onnx::RoiAlign", roi_align);
NPU_NODE("ai.onnx::NonMaxSuppression", non_max_suppression);
NPU_NODE("ai.onnx::Col2Im", columns_to_image);
NPU_NODE("ai.onnx::CenterCropPad", center_crop_pad);

}  // namespace
}  // namespace npu::graph::onnx
