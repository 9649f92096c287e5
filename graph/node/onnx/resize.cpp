// SPDX-License-Identifier: Apache-2.0
// Resize and Upsample: each axis for itself is a sum of few elements around a place that a formula tells (all modes of
// ONNX's documentation), so axes are gone through one after the other.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/thread_pool.h"
#include "graph/node/layout.h"
#include "graph/node/onnx/floats.h"

namespace npu::graph::onnx {
namespace {

/// What becomes of one axis.
struct Axis {
  int64_t in = 1, out = 1;
  double scale = 1;
  double begin = 0, end = 1;  ///< of the part that is resized, for tf_crop_and_resize
  double wide() const { return scale * static_cast<double>(in); }
};

struct Rules {
  std::string mode, coordinates, rounding;
  double cubic = -0.75, outside = 0;
  bool excludes = false, smooth = false;
};

/// Elements and weights for each position of the result, `count` each.
struct Taps {
  int64_t count = 1;
  std::vector<int64_t> index;
  std::vector<double> weight;
  std::vector<bool> outside;  ///< positions that get the extrapolation value
};

/// Where position x of the result lies among the elements of the input.
double place_of(const Axis& a, const std::string& coordinates, int64_t x) {
  const auto at = static_cast<double>(x), last = static_cast<double>(a.in - 1), out = static_cast<double>(a.out);
  if (coordinates == "asymmetric") return at / a.scale;
  if (coordinates == "align_corners") return a.wide() == 1 || a.out == 1 ? 0 : at * last / (a.wide() - 1);
  if (coordinates == "tf_half_pixel_for_nn") return (at + 0.5) / a.scale;
  if (coordinates == "tf_crop_and_resize") {
    if (a.out == 1) return 0.5 * (a.begin + a.end) * last;
    return a.begin * last + at * (a.end - a.begin) * last / (out - 1);
  }
  const double middle = (at + 0.5) / a.scale - 0.5;
  if (coordinates == "pytorch_half_pixel") return a.out == 1 ? 0 : middle;
  if (coordinates == "half_pixel_symmetric") return static_cast<double>(a.in) / 2 * (1 - out / a.wide()) + middle;
  require(coordinates == "half_pixel", "coordinate_transformation_mode is '{}', which is not known", coordinates);
  return middle;
}

double nearest(double place, const std::string& rounding) {
  if (rounding == "floor") return std::floor(place);
  if (rounding == "ceil") return std::ceil(place);
  if (rounding == "round_prefer_ceil") return std::floor(place + 0.5);
  require(rounding == "round_prefer_floor", "nearest_mode is '{}', which is not known", rounding);
  return std::ceil(place - 0.5);
}

/// The weight of an element that lies `x` away.
double weight_of(const Rules& r, double x) {
  x = std::abs(x);
  if (r.mode == "linear") return std::max(1 - x, 0.0);
  const double a = r.cubic;
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

void add_position(Taps& taps, const Axis& a, const Rules& r, double place) {
  const int64_t last = a.in - 1;
  if (r.mode == "nearest") {
    taps.index.push_back(std::clamp<int64_t>(static_cast<int64_t>(nearest(place, r.rounding)), 0, last));
    return taps.weight.push_back(1);
  }
  // Smaller images are smoothed over as many elements as one of theirs stands for.
  const double narrow = r.smooth ? std::min(a.scale, 1.0) : 1, base = std::floor(place);
  const auto first = static_cast<int64_t>(std::floor((r.mode == "linear" ? -1 : -2) / narrow)) + 1;
  const size_t begin = taps.weight.size();
  double sum = 0;
  for (int64_t i = first; i < 2 - first; ++i) {
    const int64_t index = static_cast<int64_t>(base) + i;
    double weight = weight_of(r, narrow * (static_cast<double>(i) - (place - base)));
    if (r.excludes && (index < 0 || index > last)) weight = 0;
    taps.index.push_back(std::clamp<int64_t>(index, 0, last));
    taps.weight.push_back(weight);
    sum += weight;
  }
  for (size_t i = begin; i < taps.weight.size() && sum != 0; ++i) taps.weight[i] /= sum;
}

Taps taps_of(const Axis& a, const Rules& r) {
  Taps taps;
  for (int64_t x = 0; x < a.out; ++x) {
    const double place = place_of(a, r.coordinates, x);
    add_position(taps, a, r, place);
    taps.outside.push_back(r.coordinates == "tf_crop_and_resize" &&
                           (place < 0 || place > static_cast<double>(a.in - 1)));
  }
  if (a.out > 0) taps.count = static_cast<int64_t>(taps.index.size()) / a.out;
  return taps;
}

/// Lines of `inner` elements: x is [in, inner], y is one position of the result.
template <class T>
void sum_lines(const Taps& taps, int64_t position, const T* x, T* y, int64_t inner) {
  const int64_t* index = taps.index.data() + position * taps.count;
  const double* weight = taps.weight.data() + position * taps.count;
  if (taps.count == 1) {  // the nearest one
    std::copy_n(x + index[0] * inner, inner, y);
    return;
  }
  std::fill(y, y + inner, T{0});
  for (int64_t k = 0; k < taps.count; ++k) {
    const T* line = x + index[k] * inner;
    const T factor = static_cast<T>(weight[k]);
    if (factor == 0) continue;
    for (int64_t i = 0; i < inner; ++i) y[i] += factor * line[i];
  }
}

/// The same for elements side by side, of which each is a line.
template <class T>
void sum_elements(const Taps& taps, int64_t positions, const T* x, T* y) {
  const int64_t* index = taps.index.data();
  const double* weight = taps.weight.data();
  if (taps.count == 1) {  // the nearest one
    for (int64_t i = 0; i < positions; ++i) y[i] = x[index[i]];
    return;
  }
  for (int64_t i = 0; i < positions; ++i) {
    T sum{0};
    for (int64_t k = 0; k < taps.count; ++k) sum += static_cast<T>(weight[k]) * x[index[k]];
    y[i] = sum;
    index += taps.count, weight += taps.count;
  }
}

/// One axis, into `to`.
void resize_axis(Lowering& l, const Planned& from, const Planned& to, size_t axis, const Axis& a, Taps taps) {
  const Dims& shape = to.shape();
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < shape.size(); ++i) (i < axis ? outer : inner) *= i == axis ? 1 : shape[i];
  l.run({from}, {to}, [=, taps = std::move(taps)](Frame& frame) {
    const Tensor x = frame.tensor(from), y = frame.tensor(to);
    in_slot(from.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const int64_t lines = inner == 1 ? outer : outer * a.out, work = y.count() / lines * taps.count;
      parallel_for(lines, std::max<int64_t>(1, (1 << 14) / work), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          if (inner == 1)
            sum_elements(taps, a.out, x.as<T>() + i * a.in, y.as<T>() + i * a.out);
          else
            sum_lines(taps, i % a.out, x.as<T>() + i / a.out * a.in * inner, y.as<T>() + i * inner, inner);
        }
      });
    });
  });
}

/// The extrapolation value where any axis lies outside of the image.
void extrapolate(Lowering& l, const Planned& to, const std::vector<std::vector<bool>>& outside, double value) {
  const std::vector<int64_t> sizes = sizes_of(to.shape());
  l.run({to}, [=](Frame& frame) {
    const Tensor y = frame.tensor(to);
    in_slot(to.dtype(), [&](auto zero) {
      using T = decltype(zero);
      T* at = y.as<T>();
      each_position(sizes, [&](const std::vector<int64_t>& position) {
        for (size_t d = 0; d < position.size(); ++d)
          if (!outside[d].empty() && outside[d][static_cast<size_t>(position[d])]) *at = static_cast<T>(value);
        ++at;
      });
    });
  });
}

/// The numbers of a float input; the plan is made for them.
std::vector<double> floats(const Lowering& l, size_t i) {
  if (!l.known(i)) l.integers(i);  // ends the plan
  const Literal& literal = *l.input(i).literal;
  std::vector<double> out;
  visit_dtype(literal.type.dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_convertible_v<T, double>)
      for (int64_t k = 0; k < literal.count(); ++k) out.push_back(static_cast<double>(literal.as<T>()[k]));
  });
  return out;
}

std::vector<double> optional_floats(const Lowering& l, size_t i) {
  return has(l, i) ? floats(l, at(l, i)) : std::vector<double>{};
}

std::vector<size_t> named_axes(const Lowering& l, size_t rank) {
  std::vector<size_t> out;
  for (const int64_t axis : list_attribute(l, "axes")) out.push_back(checked_axis(axis, rank));
  if (!out.empty()) return out;
  out.resize(rank);
  std::iota(out.begin(), out.end(), size_t{0});
  return out;
}

void set_scales(std::vector<Axis>& all, const std::vector<size_t>& axes, const std::vector<double>& scales, bool cuts) {
  require(scales.size() == axes.size(), "scales has {} numbers for {} axes", scales.size(), axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    Axis& a = all[axes[i]];
    require(scales[i] > 0, "scale {} is {}; it must be above 0", i, scales[i]);
    a.scale = scales[i];
    const double part = cuts ? a.end - a.begin : 1;
    // In float, as the numbers are given: 3 times a third is 1.
    a.out = static_cast<int64_t>(
        std::floor(static_cast<float>(static_cast<double>(a.in) * part) * static_cast<float>(a.scale)));
  }
}

/// Sizes as they are, or of the ratio that the input has.
void set_sizes(std::vector<Axis>& all, const std::vector<size_t>& axes, const std::vector<int64_t>& sizes,
               const std::string& policy) {
  require(sizes.size() == axes.size(), "sizes has {} numbers for {} axes", sizes.size(), axes.size());
  std::vector<double> scales;
  for (size_t i = 0; i < axes.size(); ++i) {
    require(sizes[i] >= 0 && all[axes[i]].in > 0, "a size of {} is asked for axis {} of {} elements", sizes[i], axes[i],
            all[axes[i]].in);
    scales.push_back(static_cast<double>(sizes[i]) / static_cast<double>(all[axes[i]].in));
  }
  require(policy == "stretch" || policy == "not_larger" || policy == "not_smaller",
          "keep_aspect_ratio_policy is '{}', which is not known", policy);
  const bool keeps = policy != "stretch" && !scales.empty();
  const double one = !keeps ? 0 : policy == "not_larger" ? std::ranges::min(scales) : std::ranges::max(scales);
  for (size_t i = 0; i < axes.size(); ++i) {
    Axis& a = all[axes[i]];
    a.scale = keeps ? one : scales[i];
    a.out = keeps ? static_cast<int64_t>(one * static_cast<double>(a.in) + 0.5) : sizes[i];
  }
}

void set_parts(std::vector<Axis>& all, const std::vector<size_t>& axes, const std::vector<double>& roi) {
  require(roi.size() == 2 * axes.size(), "roi has {} numbers; tf_crop_and_resize needs two for each of {} axes",
          roi.size(), axes.size());
  for (size_t i = 0; i < axes.size(); ++i) all[axes[i]].begin = roi[i], all[axes[i]].end = roi[axes.size() + i];
}

std::vector<Axis> whole(const Dims& shape) {
  std::vector<Axis> out;
  for (const int64_t size : shape) out.push_back({size, size});
  return out;
}

bool stays(const Axis& a, const Rules& r) {
  return a.in == a.out && a.scale == 1 && r.coordinates != "tf_crop_and_resize" &&
         (r.coordinates != "tf_half_pixel_for_nn" || r.mode == "nearest");
}

/// An axis that is resized, where it stands in memory.
struct Step {
  size_t axis;
  Axis size;
  Taps taps;
};

void resize_axes(Lowering& l, const std::vector<Axis>& axes, const Rules& r) {
  require(r.mode == "nearest" || r.mode == "linear" || r.mode == "cubic",
          "mode is '{}'; nearest, linear and cubic are known", r.mode);
  const Planned in = l.input(0);
  const DType slot = slot_of(in.dtype());
  Dims shape;
  for (const Axis& a : axes) shape.push_back(a.out);
  const bool last = lies_channels_last(in) && stays(axes[0], r) && stays(axes[1], r);
  const Planned out = last ? make_images(l, 0, in.dtype(), shape) : l.make(0, in.dtype(), shape);
  if (out.view.count() == 0) return;
  require(in.view.count() > 0, "the image is {}; it has no elements", in.shape());
  std::vector<std::vector<bool>> outside(axes.size());
  bool any = false;
  std::vector<Step> steps;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (stays(axes[i], r)) continue;
    const size_t axis = last ? i - 1 : i;
    steps.push_back({axis, axes[i], taps_of(axes[i], r)});
    outside[axis] = steps.back().taps.outside;
    any = any || std::ranges::find(outside[axis], true) != outside[axis].end();
  }
  Planned now = rows_of(l, last ? in_order_of_memory(in) : in, slot);
  const Planned target = last ? in_order_of_memory(out) : out;
  for (size_t i = 0; i < steps.size(); ++i) {
    Dims sizes = now.shape();
    sizes[steps[i].axis] = steps[i].size.out;
    const bool ends = i + 1 == steps.size() && slot == in.dtype();
    const Planned to = ends ? target : l.scratch(slot, sizes);
    resize_axis(l, now, to, steps[i].axis, steps[i].size, std::move(steps[i].taps));
    now = to;
  }
  if (any) extrapolate(l, now, outside, r.outside);
  if (steps.empty() || slot != in.dtype()) copy(l, now, target);
}

/// Before opset 11: scales alone, counted from the first elements.
void resize_simple(Lowering& l, const std::vector<double>& scales) {
  std::vector<Axis> all = whole(l.shape(0));
  set_scales(all, named_axes(l, all.size()), scales, false);
  Rules r{text_attribute(l, "mode", "nearest"), "asymmetric", "floor"};
  if (r.mode == "bilinear") r.mode = "linear";
  resize_axes(l, all, r);
}

void upsample(Lowering& l) {
  if (l.attributes().has("scales")) return resize_simple(l, l.attributes().get<std::vector<double>>("scales"));
  resize_simple(l, floats(l, at(l, 1)));
}

void resize(Lowering& l) {
  if (opset(l) < 11) return resize_simple(l, floats(l, at(l, 1)));
  const Rules r{text_attribute(l, "mode", "nearest"),
                text_attribute(l, "coordinate_transformation_mode", "half_pixel"),
                text_attribute(l, "nearest_mode", "round_prefer_floor"),
                float_attribute(l, "cubic_coeff_a", -0.75),
                float_attribute(l, "extrapolation_value", 0),
                int_attribute(l, "exclude_outside", 0) != 0,
                int_attribute(l, "antialias", 0) != 0};
  std::vector<Axis> all = whole(l.shape(0));
  const std::vector<size_t> axes = named_axes(l, all.size());
  const bool cuts = r.coordinates == "tf_crop_and_resize";
  if (cuts) set_parts(all, axes, optional_floats(l, 1));
  const std::vector<double> scales = optional_floats(l, 2);
  if (!scales.empty())
    set_scales(all, axes, scales, cuts);
  else
    set_sizes(all, axes, l.integers(at(l, 3)), text_attribute(l, "keep_aspect_ratio_policy", "stretch"));
  resize_axes(l, all, r);
}

NPU_NODE("ai.onnx::Resize", resize);
NPU_NODE("ai.onnx::Upsample", upsample);

}  // namespace
}  // namespace npu::graph::onnx
