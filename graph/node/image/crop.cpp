// SPDX-License-Identifier: Apache-2.0
// CropAndResize: boxes of images, resized to one size, and its gradients. Corners of a box are parts of the image from
// its first to its last element; samples outside of the image get one value. Coordinates are computed in float, step by
// step as TensorFlow does, because `floor` and `ceil` of them choose the elements.
#include <algorithm>
#include <cmath>

#include "base/thread_pool.h"
#include "graph/node/rows.h"
#include "graph/value/client_text.h"

namespace npu::graph {
namespace {

/// The samples of one box along one axis of the image. The gradient of boxes rounds their distance in another order.
class CropAxis {
 public:
  CropAxis(float from, float to, int64_t crop, int64_t size, bool of_boxes)
      : crop_(crop), first_(from * static_cast<float>(size - 1)), last_(static_cast<float>(size - 1)) {
    const auto steps = static_cast<float>(crop - 1);
    if (crop > 1) step_ = of_boxes ? (to - from) * (last_ / steps) : (to - from) * last_ / steps;
    middle_ = static_cast<float>(0.5 * static_cast<double>(from + to) * static_cast<double>(size - 1));
  }
  float at(int64_t i) const { return crop_ > 1 ? first_ + static_cast<float>(i) * step_ : middle_; }
  bool inside(float at) const { return !(at < 0 || at > last_); }

 private:
  int64_t crop_;
  float first_, last_, step_ = 0, middle_;
};

/// Two elements of an axis and the share of the second one.
struct Between {
  explicit Between(float at)
      : low(static_cast<int64_t>(std::floor(at))),
        high(static_cast<int64_t>(std::ceil(at))),
        share(at - static_cast<float>(low)) {}
  int64_t low, high;
  float share;
};
int64_t nearest_element(float at) { return static_cast<int64_t>(std::round(at)); }

struct CropSizes {
  int64_t batch, height, width, depth;  ///< of the images
  int64_t crop_height, crop_width;
  bool nearest = false, of_boxes = false;
  float outside = 0;
  int64_t image() const { return height * width * depth; }
  int64_t crop() const { return crop_height * crop_width * depth; }
  int64_t place(int64_t y, int64_t x) const { return (y * width + x) * depth; }
};

struct BoxAxes {
  BoxAxes(const CropSizes& s, const float* box)
      : y(box[0], box[2], s.crop_height, s.height, s.of_boxes), x(box[1], box[3], s.crop_width, s.width, s.of_boxes) {}
  CropAxis y, x;
};

/// Calls visit(place in the crop, y, x) for each sample, and `outside(place)` for those outside of the image.
template <class Visit, class Outside>
void each_sample(const CropSizes& s, const BoxAxes& axes, Visit&& visit, Outside&& outside) {
  for (int64_t i = 0; i < s.crop_height; ++i) {
    const float y = axes.y.at(i);
    for (int64_t j = 0; j < s.crop_width; ++j) {
      const float x = axes.x.at(j);
      const int64_t place = (i * s.crop_width + j) * s.depth;
      if (axes.y.inside(y) && axes.x.inside(x))
        visit(place, y, x);
      else
        outside(place);
    }
  }
}
void nothing(int64_t /*place*/) {}

void crop_box(const CropSizes& s, const float* box, const float* image, float* to) {
  const auto fill = [&](int64_t place) { std::fill_n(to + place, s.depth, s.outside); };
  const auto nearest = [&](int64_t place, float y, float x) {
    std::copy_n(image + s.place(nearest_element(y), nearest_element(x)), s.depth, to + place);
  };
  const auto bilinear = [&](int64_t place, float y, float x) {
    const Between rows(y), columns(x);
    const float *top_left = image + s.place(rows.low, columns.low),
                *top_right = image + s.place(rows.low, columns.high),
                *bottom_left = image + s.place(rows.high, columns.low),
                *bottom_right = image + s.place(rows.high, columns.high);
    for (int64_t d = 0; d < s.depth; ++d) {
      const float top = top_left[d] + (top_right[d] - top_left[d]) * columns.share;
      const float bottom = bottom_left[d] + (bottom_right[d] - bottom_left[d]) * columns.share;
      to[place + d] = top + (bottom - top) * rows.share;
    }
  };
  const BoxAxes axes(s, box);
  s.nearest ? each_sample(s, axes, nearest, fill) : each_sample(s, axes, bilinear, fill);
}

/// The gradient of one crop, added to that of its image, each product rounded to T first.
template <class T>
void spread_box(const CropSizes& s, const float* box, const float* gradient, T* to) {
  const auto add = [](T& sum, float part) { sum = static_cast<T>(sum + static_cast<T>(part)); };
  const auto nearest = [&](int64_t place, float y, float x) {
    T* at = to + s.place(nearest_element(y), nearest_element(x));
    for (int64_t d = 0; d < s.depth; ++d) add(at[d], gradient[place + d]);
  };
  const auto bilinear = [&](int64_t place, float y, float x) {
    const Between rows(y), columns(x);
    for (int64_t d = 0; d < s.depth; ++d) {
      const float top = (1 - rows.share) * gradient[place + d], bottom = rows.share * gradient[place + d];
      add(to[s.place(rows.low, columns.low) + d], (1 - columns.share) * top);
      add(to[s.place(rows.low, columns.high) + d], columns.share * top);
      add(to[s.place(rows.high, columns.low) + d], (1 - columns.share) * bottom);
      add(to[s.place(rows.high, columns.high) + d], columns.share * bottom);
    }
  };
  const BoxAxes axes(s, box);
  s.nearest ? each_sample(s, axes, nearest, nothing) : each_sample(s, axes, bilinear, nothing);
}

/// How the corners of one axis move the samples along it: the derivative of a sample's place by either corner.
struct CornerShare {
  CornerShare(int64_t crop, int64_t size)
      : crop(crop), last(static_cast<float>(size - 1)), ratio(crop > 1 ? last / static_cast<float>(crop - 1) : 0) {}
  /// Adds what `gradient` along the axis means for both corners.
  void add(float gradient, int64_t i, float& first, float& second) const {
    if (crop > 1) {
      first += gradient * (last - static_cast<float>(i) * ratio);
      second += gradient * (static_cast<float>(i) * ratio);
    } else {
      const double half = static_cast<double>(gradient) * 0.5 * static_cast<double>(last);
      first = static_cast<float>(static_cast<double>(first) + half);
      second = static_cast<float>(static_cast<double>(second) + half);
    }
  }
  int64_t crop;
  float last, ratio;
};

void box_gradient(const CropSizes& s, const float* box, const float* gradient, const float* image, float* to) {
  const CornerShare vertical(s.crop_height, s.height), horizontal(s.crop_width, s.width);
  std::fill_n(to, 4, 0.0F);
  each_sample(
      s, BoxAxes(s, box),
      [&](int64_t place, float y, float x) {
        const Between rows(y), columns(x);
        const float *top_left = image + s.place(rows.low, columns.low),
                    *top_right = image + s.place(rows.low, columns.high),
                    *bottom_left = image + s.place(rows.high, columns.low),
                    *bottom_right = image + s.place(rows.high, columns.high);
        const int64_t sample = place / std::max<int64_t>(s.depth, 1);
        for (int64_t d = 0; d < s.depth; ++d) {
          const float down =
              (1 - columns.share) * (bottom_left[d] - top_left[d]) + columns.share * (bottom_right[d] - top_right[d]);
          const float along =
              (1 - rows.share) * (top_right[d] - top_left[d]) + rows.share * (bottom_right[d] - bottom_left[d]);
          vertical.add(down * gradient[place + d], sample / s.crop_width, to[0], to[2]);
          horizontal.add(along * gradient[place + d], sample % s.crop_width, to[1], to[3]);
        }
      },
      nothing);
}

bool is_nearest(const Lowering& l) {
  const auto method = l.attributes().get_or<std::string>("method", "bilinear");
  require(method == "bilinear" || method == "nearest", "method must be 'bilinear' or 'nearest'{}", method);
  return method == "nearest";
}

/// The number of boxes: inputs `i`, [boxes, 4], and `i + 1`, the image of each.
int64_t checked_boxes(const Lowering& l, size_t i) {
  const Dims &boxes = l.shape(i), &index = l.shape(i + 1);
  require(boxes.size() == 2, "boxes must be 2-D, got: {}", client_text(boxes));
  require(index.size() == 1, "box_indices must be rank 1 but is shape {}", client_text(index));
  if (count_of(boxes) == 0 && count_of(index) == 0) return 0;
  require(boxes[1] == 4, "boxes must have 4 columns");
  require(index[0] == boxes[0], "box_index has incompatible shape");
  return boxes[0];
}

void check_image(const Dims& image) {
  require(image.size() == 4, "input image must be 4-D{}", client_text(image));
  require(image[1] > 0 && image[2] > 0, "image dimensions must be positive");
}

/// The numbers of images that boxes lie in, checked.
const int64_t* checked_index(const Frame& frame, const Planned& index, int64_t batch) {
  const Tensor numbers = frame.tensor(index);
  const auto* at = numbers.as<int64_t>();
  require(std::all_of(at, at + numbers.count(), [&](int64_t i) { return i >= 0 && i < batch; }),
          "box_index has values outside [0, batch_size)");
  return at;
}

void crop_and_resize(Lowering& l) {
  CropSizes s{};
  s.nearest = is_nearest(l);
  s.outside = static_cast<float>(l.attributes().get_or<double>("extrapolation_value", 0));
  const Dims image = l.shape(0);
  check_image(image);
  const int64_t count = checked_boxes(l, 1);
  require(l.shape(3).size() == 1, "crop_size must be 1-D{}", client_text(l.shape(3)));
  require(l.shape(3)[0] == 2, "crop_size must have two elements{}", client_text(l.shape(3)));
  const std::vector<int64_t> size = l.integers(3);
  require(size[0] > 0 && size[1] > 0, "crop dimensions must be positive");
  s.batch = image[0], s.height = image[1], s.width = image[2], s.depth = image[3];
  s.crop_height = size[0], s.crop_width = size[1];
  const Planned out = l.make(0, DType::kFloat, {count, s.crop_height, s.crop_width, s.depth});
  if (out.view.count() == 0) return;
  const Planned images = rows_of(l, l.input(0), DType::kFloat), boxes = rows_of(l, l.input(1), DType::kFloat),
                index = rows_of(l, l.input(2), DType::kInt64);
  l.run({images, boxes, index}, {out}, [=](Frame& frame) {
    const int64_t* at = checked_index(frame, index, s.batch);
    const auto *from = frame.tensor(images).as<float>(), *box = frame.tensor(boxes).as<float>();
    require(std::all_of(box, box + 4 * count, [](float v) { return std::isfinite(v); }),
            "Boxes contains at least one element that is not finite");
    auto* to = frame.tensor(out).as<float>();
    parallel_parts(count, [&](int64_t b) { crop_box(s, box + 4 * b, from + at[b] * s.image(), to + b * s.crop()); });
  });
}

/// The sizes of crops, from their gradient, which is input 0.
CropSizes gradient_sizes(const Lowering& l) {
  const Dims& gradient = l.shape(0);
  require(gradient.size() == 4, "grads image must be 4-D{}", client_text(gradient));
  require(gradient[1] > 0 && gradient[2] > 0, "grads dimensions must be positive");
  CropSizes s{};
  s.crop_height = gradient[1], s.crop_width = gradient[2], s.depth = gradient[3];
  return s;
}

void crop_image_gradient(Lowering& l) {
  const bool nearest = is_nearest(l);
  CropSizes s = gradient_sizes(l);
  s.nearest = nearest;
  const int64_t count = checked_boxes(l, 1);
  require(l.shape(0)[0] == count, "boxes and grads have incompatible shape");
  require(l.shape(3).size() == 1, "image_size must be 1-D{}", client_text(l.shape(3)));
  require(l.shape(3)[0] == 4, "image_size must have 4 elements{}", client_text(l.shape(3)));
  const std::vector<int64_t> size = l.integers(3);
  require(size[1] > 0 && size[2] > 0, "image dimensions must be positive");
  require(size[3] == s.depth, "image_size and grads are incompatible");
  s.batch = size[0], s.height = size[1], s.width = size[2];
  const DType dtype = out_type(l);
  if (!is_floating(dtype)) l.decline("gradients of this type are left to the client");
  const Planned out = l.make(0, dtype, Dims(size));
  fill(l, out, Scalar(0));
  if (out.view.count() == 0) return;
  const Planned gradients = rows_of(l, l.input(0), DType::kFloat), boxes = rows_of(l, l.input(1), DType::kFloat),
                index = rows_of(l, l.input(2), DType::kInt64);
  l.run({gradients, boxes, index}, {out}, [=](Frame& frame) {
    const int64_t* at = checked_index(frame, index, s.batch);
    const auto *from = frame.tensor(gradients).as<float>(), *box = frame.tensor(boxes).as<float>();
    const Tensor to = frame.tensor(out);
    visit_dtype(dtype, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (std::is_convertible_v<T, float> && !std::is_integral_v<T>)
        // One thread for each image: crops that overlap are added in their order, whatever the number of threads.
        parallel_parts(s.batch, [&](int64_t image) {
          for (int64_t b = 0; b < count; ++b)
            if (at[b] == image) spread_box(s, box + 4 * b, from + b * s.crop(), to.as<T>() + image * s.image());
        });
    });
  });
}

void crop_boxes_gradient(Lowering& l) {
  require(!is_nearest(l), "method must be 'bilinear'{}", l.attributes().get<std::string>("method"));
  CropSizes s = gradient_sizes(l);
  s.of_boxes = true;
  const Dims& image = l.shape(1);
  check_image(image);
  require(image[3] == s.depth, "image, grads depth differ");
  s.batch = image[0], s.height = image[1], s.width = image[2];
  const int64_t count = checked_boxes(l, 2);
  require(l.shape(0)[0] == count, "boxes and grads have incompatible shape");
  const Planned out = l.make(0, DType::kFloat, {count, 4});
  if (count == 0) return;
  const Planned gradients = rows_of(l, l.input(0), DType::kFloat), images = rows_of(l, l.input(1), DType::kFloat),
                boxes = rows_of(l, l.input(2), DType::kFloat), index = rows_of(l, l.input(3), DType::kInt64);
  l.run({gradients, images, boxes, index}, {out}, [=](Frame& frame) {
    const int64_t* at = checked_index(frame, index, s.batch);
    const auto *gradient = frame.tensor(gradients).as<float>(), *from = frame.tensor(images).as<float>(),
               *box = frame.tensor(boxes).as<float>();
    auto* to = frame.tensor(out).as<float>();
    parallel_parts(count, [&](int64_t b) {
      box_gradient(s, box + 4 * b, gradient + b * s.crop(), from + at[b] * s.image(), to + 4 * b);
    });
  });
}

NPU_NODE("CropAndResize", crop_and_resize);
NPU_NODE("CropAndResizeGradImage", crop_image_gradient);
NPU_NODE("CropAndResizeGradBoxes", crop_boxes_gradient);

}  // namespace
}  // namespace npu::graph
