// SPDX-License-Identifier: Apache-2.0
// ResizeBicubic with its gradient, and ResizeArea, over images with channels last. Both round as TensorFlow does:
// places and weights are float, cubic weights come from a table of 1024 steps, and rows are summed before columns.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/thread_pool.h"
#include "graph/node/rows.h"
#include "graph/value/client_text.h"

namespace npu::graph {
namespace {

/// One spatial axis of the images.
struct ScaledAxis {
  int64_t in = 1, out = 1;
  float scale = 1;
};

ScaledAxis scaled(int64_t in, int64_t out, bool corners) {
  const bool between = corners && out > 1;
  const int64_t from = between ? in - 1 : in, to = between ? out - 1 : out;
  return {in, out, static_cast<float>(from) / static_cast<float>(to)};
}

struct Resampling {
  int64_t batch, channels;
  ScaledAxis rows, columns;
  bool corners = false, centers = false;
  int64_t image() const { return rows.in * columns.in * channels; }
  int64_t line() const { return columns.out * channels; }
};

int64_t bounded(int64_t at, int64_t size) { return std::min(size - 1, std::max<int64_t>(0, at)); }

/// Weights of the elements that lie up to one, and up to two elements away, in 1024 steps.
class CubicTable {
 public:
  explicit CubicTable(double a) : weights_((kSteps + 1) * 2) {
    for (int64_t i = 0; i <= kSteps; ++i) {
      auto x = static_cast<float>(static_cast<double>(i) / static_cast<double>(kSteps));
      weights_[static_cast<size_t>(2 * i)] = static_cast<float>(near(a, static_cast<double>(x)));
      x = static_cast<float>(static_cast<double>(x) + 1.0);
      weights_[static_cast<size_t>(2 * i + 1)] = static_cast<float>(far(a, static_cast<double>(x)));
    }
  }
  static constexpr int64_t kSteps = 1 << 10;
  float within(int64_t step) const { return weights_[static_cast<size_t>(2 * step)]; }
  float beyond(int64_t step) const { return weights_[static_cast<size_t>(2 * step + 1)]; }

 private:
  static double near(double a, double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; }
  static double far(double a, double x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; }
  std::vector<float> weights_;
};

/// Four elements of an axis and what each counts.
struct CubicTaps {
  std::array<int64_t, 4> index;
  std::array<float, 4> weight;
};

/// Elements outside of the image do not count, and the weights of the others make up for them.
void leave_out(CubicTaps& taps, int64_t first) {
  for (size_t k = 0; k < 4; ++k)
    if (taps.index[k] != first + static_cast<int64_t>(k)) taps.weight[k] = 0;
  const float sum = taps.weight[0] + taps.weight[1] + taps.weight[2] + taps.weight[3];
  if (std::abs(sum) < 1000.0F * std::numeric_limits<float>::min()) return;
  const float share = 1.0F / sum;
  for (float& weight : taps.weight) weight *= share;
}

CubicTaps cubic_taps(const CubicTable& table, const ScaledAxis& axis, int64_t at, bool centers) {
  const auto x = static_cast<float>(at);
  const float place = centers ? (x + 0.5F) * axis.scale - 0.5F : x * axis.scale;
  const auto base = static_cast<int64_t>(std::floor(place));
  const float delta = place - static_cast<float>(base);
  const int64_t step = std::lrint(delta * static_cast<float>(CubicTable::kSteps)), rest = CubicTable::kSteps - step;
  CubicTaps taps{{}, {table.beyond(step), table.within(step), table.within(rest), table.beyond(rest)}};
  for (size_t k = 0; k < 4; ++k) taps.index[k] = bounded(base - 1 + static_cast<int64_t>(k), axis.in);
  if (centers) leave_out(taps, base - 1);
  return taps;
}

std::vector<CubicTaps> all_taps(const ScaledAxis& axis, bool centers) {
  static const CubicTable keys(-0.5), older(-0.75);
  std::vector<CubicTaps> out;
  for (int64_t i = 0; i < axis.out; ++i) out.push_back(cubic_taps(centers ? keys : older, axis, i, centers));
  return out;
}

float weighted(const std::array<float, 4>& weight, const std::array<float, 4>& x) {
  return x[0] * weight[0] + x[1] * weight[1] + x[2] * weight[2] + x[3] * weight[3];
}

/// One row of the result: the rows of the image first, for all its columns, as several positions share them.
void cubic_line(const Resampling& s, const CubicTaps& rows, const std::vector<CubicTaps>& columns, const float* image,
                float* to) {
  const int64_t length = s.columns.in * s.channels;
  std::vector<float> line(static_cast<size_t>(length));
  const auto row = [&](size_t k) { return image + rows.index[k] * length; };
  const float *first = row(0), *second = row(1), *third = row(2), *fourth = row(3);
  for (int64_t i = 0; i < length; ++i)
    line[static_cast<size_t>(i)] = weighted(rows.weight, {first[i], second[i], third[i], fourth[i]});
  for (const CubicTaps& taps : columns)
    for (int64_t c = 0; c < s.channels; ++c) {
      const auto at = [&](size_t k) { return line[static_cast<size_t>(taps.index[k] * s.channels + c)]; };
      *to++ = weighted(taps.weight, {at(0), at(1), at(2), at(3)});
    }
}

/// The gradient of one image, each product rounded to T before it is added.
template <class T>
void spread_cubic(const Resampling& s, const std::vector<CubicTaps>& rows, const std::vector<CubicTaps>& columns,
                  const float* gradient, T* to) {
  for (const CubicTaps& row : rows)
    for (const CubicTaps& column : columns)
      for (int64_t c = 0; c < s.channels; ++c) {
        const T value = *gradient++;
        for (size_t i = 0; i < 4; ++i)
          for (size_t k = 0; k < 4; ++k)
            to[(row.index[i] * s.columns.in + column.index[k]) * s.channels + c] +=
                value * row.weight[i] * column.weight[k];
      }
}

/// Elements [first, end) that one element of the result covers: the first and the last one may count in part.
struct Cover {
  int64_t first, end;
  float before, after;
};

float share_of(const ScaledAxis& axis, int64_t element, float from, float to) {
  const auto low = static_cast<float>(element), high = static_cast<float>(element + 1);
  if (low < from) return high > to ? axis.scale : high - from;
  return high > to ? to - low : 1.0F;
}

Cover cover_of(const ScaledAxis& axis, int64_t at) {
  const float from = static_cast<float>(at) * axis.scale, to = static_cast<float>(at + 1) * axis.scale;
  const auto first = static_cast<int64_t>(std::floor(from)), end = static_cast<int64_t>(std::ceil(to));
  return {first, end, share_of(axis, first, from, to), share_of(axis, end - 1, from, to)};
}

/// The sum of one channel over the columns that are covered.
float covered_sum(const Resampling& s, const Cover& columns, const float* line) {
  const auto at = [&](int64_t x) { return line[bounded(x, s.columns.in) * s.channels]; };
  float sum = at(columns.first) * columns.before;
  if (columns.first + 1 == columns.end) return sum;
  for (int64_t x = columns.first + 1; x < columns.end - 1; ++x) sum += at(x);
  return sum + at(columns.end - 1) * columns.after;
}

void area_line(const Resampling& s, int64_t row, const std::vector<Cover>& columns, const float* image, float* to) {
  const auto scale = static_cast<float>(1.0 / static_cast<double>(s.rows.scale * s.columns.scale));
  const float from = static_cast<float>(row) * s.rows.scale, until = static_cast<float>(row + 1) * s.rows.scale;
  const Cover rows = cover_of(s.rows, row);
  for (const Cover& cover : columns)
    for (int64_t c = 0; c < s.channels; ++c) {
      float sum = 0;
      for (int64_t y = rows.first; y < rows.end; ++y)
        sum += covered_sum(s, cover, image + bounded(y, s.rows.in) * s.columns.in * s.channels + c) *
               share_of(s.rows, y, from, until);
      *to++ = sum * scale;
    }
}

/// How pixels are placed, as the node's flags say it; the sizes are for the caller.
Resampling placement_of(const Lowering& l) {
  Resampling s{};
  s.corners = l.attributes().get_or<bool>("align_corners", false);
  s.centers = l.attributes().get_or<bool>("half_pixel_centers", false);
  require(!s.centers || !s.corners, "If half_pixel_centers is True, align_corners must be False.");
  return s;
}

/// What TensorFlow's resizers demand of an image, input 0, and of its new size, input 1.
Resampling resampling_of(const Lowering& l) {
  Resampling s = placement_of(l);
  const Dims &image = l.shape(0), &sizes = l.shape(1);
  require(image.size() == 4, "input must be 4-dimensional{}", client_text(image));
  require(image[3] > 0, "image must have at least one channel");
  require(image[1] > 0 && image[2] > 0, "input image must be of non-zero size");
  require(sizes.size() == 1, "shape_t must be 1-dimensional{}", client_text(sizes));
  require(sizes[0] == 2, "shape_t must have two elements{}", client_text(sizes));
  const std::vector<int64_t> size = l.integers(1);
  require(size[0] > 0 && size[1] > 0, "output dimensions must be positive");
  s.batch = image[0], s.channels = image[3];
  s.rows = scaled(image[1], size[0], s.corners), s.columns = scaled(image[2], size[1], s.corners);
  return s;
}

/// Calls line(s, row of the result, image, result) for every row of every image.
template <class Line>
void each_line(Lowering& l, const Resampling& s, Line&& line) {
  const Planned images = rows_of(l, l.input(0), DType::kFloat);
  const Planned out = l.make(0, DType::kFloat, {s.batch, s.rows.out, s.columns.out, s.channels});
  l.run({images}, {out}, [=](Frame& frame) {
    const auto* from = frame.tensor(images).as<float>();
    auto* to = frame.tensor(out).as<float>();
    parallel_parts(s.batch * s.rows.out,
                   [&](int64_t i) { line(i % s.rows.out, from + i / s.rows.out * s.image(), to + i * s.line()); });
  });
}

void resize_bicubic(Lowering& l) {
  const Resampling s = resampling_of(l);
  each_line(l, s,
            [s, rows = all_taps(s.rows, s.centers), columns = all_taps(s.columns, s.centers)](
                int64_t row, const float* image, float* to) {
              cubic_line(s, rows[static_cast<size_t>(row)], columns, image, to);
            });
}

void resize_area(Lowering& l) {
  const Resampling s = resampling_of(l);
  std::vector<Cover> columns;
  for (int64_t x = 0; x < s.columns.out; ++x) columns.push_back(cover_of(s.columns, x));
  each_line(l, s, [s, columns](int64_t row, const float* image, float* to) { area_line(s, row, columns, image, to); });
}

Resampling gradient_resampling(const Lowering& l) {
  Resampling s = placement_of(l);
  const Dims &gradient = l.shape(0), &image = l.shape(1);
  require(gradient.size() == 4, "input_grad must be 4-dimensional{}", client_text(gradient));
  require(gradient[1] > 0 && gradient[2] > 0, "resized dimensions must be positive");
  require(image.size() == 4, "original_image must be 4-dimensional{}", client_text(image));
  require(image[1] > 0 && image[2] > 0, "original dimensions must be positive");
  s.batch = gradient[0], s.channels = gradient[3];
  s.rows = scaled(image[1], gradient[1], s.corners), s.columns = scaled(image[2], gradient[2], s.corners);
  return s;
}

void resize_bicubic_gradient(Lowering& l) {
  const Resampling s = gradient_resampling(l);
  const DType dtype = out_type(l);
  if (dtype != DType::kFloat && dtype != DType::kDouble) l.decline("gradients of this type are left to the client");
  const Planned gradients = rows_of(l, l.input(0), DType::kFloat);
  const Planned out = l.make(0, dtype, {s.batch, s.rows.in, s.columns.in, s.channels});
  fill(l, out, Scalar(0));
  if (out.view.count() == 0) return;
  l.run({gradients}, {out},
        [=, rows = all_taps(s.rows, s.centers), columns = all_taps(s.columns, s.centers)](Frame& frame) {
          const auto* from = frame.tensor(gradients).as<float>();
          const Tensor to = frame.tensor(out);
          in_slot(dtype, [&](auto zero) {
            using T = decltype(zero);
            parallel_parts(s.batch, [&](int64_t b) {
              spread_cubic(s, rows, columns, from + b * s.rows.out * s.line(), to.as<T>() + b * s.image());
            });
          });
        });
}

NPU_NODE("ResizeBicubic", resize_bicubic);
NPU_NODE("ResizeBicubicGrad", resize_bicubic_gradient);
NPU_NODE("ResizeArea", resize_area);

}  // namespace
}  // namespace npu::graph
