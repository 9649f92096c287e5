// SPDX-License-Identifier: Apache-2.0
// Tables are made once, in double, and kernels read them: how a framework counts positions is decided here alone.
#include "ops/image/resample.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace npu::ops {
namespace {

// The factor that a client intended: some interfaces pass float32, and 1.1 in float32 is another number, whose pixels
// are one off where an element's position is a whole number. Of all numbers that round to the float32, the fraction of
// the least denominator is taken: the end of the continued fraction of the interval between its neighbours' midpoints.
double intended_scale(double scale) {
  const auto single = static_cast<float>(scale);
  if (!(scale > 0 && std::isfinite(scale)) || static_cast<double>(single) != scale) return scale;
  double low = (scale + static_cast<double>(std::nextafter(single, 0.0F))) / 2;
  double high = (scale + static_cast<double>(std::nextafter(single, std::numeric_limits<float>::infinity()))) / 2;
  double above = 1, below = 0, last_above = 0, last_below = 1;  // the fraction so far, and that before it
  for (int level = 0; level < 32; ++level) {
    const bool ends = std::ceil(low) < high;
    const double term = ends ? std::ceil(low) : std::floor(low);
    last_above = std::exchange(above, term * above + last_above);
    last_below = std::exchange(below, term * below + last_below);
    if (ends) return above / below;
    const double rest = low - term;
    low = 1 / (high - term);
    high = 1 / rest;
  }
  return scale;
}

// Input elements per output element.
double step_of(int64_t in, int64_t out, double scale, const ResampleRule& rule) {
  // A single element of the output reads the first of the input.
  if (rule.align_corners) return out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0;
  // Clients pass 0, -1 or 1 for "none"; PyTorch's antialiased modes leave an axis of equal sizes alone.
  const bool given = scale > 0 && scale != 1 && !(out == in && rule.mode.ends_with("_aa"));
  const double step = given ? 1 / intended_scale(scale) : static_cast<double>(in) / static_cast<double>(out);
  return std::min(step, 0x1p60 / static_cast<double>(out));  // positions fit into 64 bits, whatever the scale
}

// In T because the position is cut: at the borders between elements the rounding of T decides, as in PyTorch.
template <class T>
int64_t nearest(int64_t o, double step, bool exact, int64_t in) {
  const T position =
      exact ? (static_cast<T>(o) + T(0.5)) * static_cast<T>(step) : static_cast<T>(o) * static_cast<T>(step);
  return std::min(static_cast<int64_t>(std::floor(position)), in - 1);
}

void add_nearest(ResampleAxis& a, double step, const ResampleRule& rule) {
  const bool exact = rule.mode == "nearest_exact";
  for (int64_t o = 0; o < a.out; ++o) {
    a.index.push_back(rule.single ? nearest<float>(o, step, exact, a.in) : nearest<double>(o, step, exact, a.in));
    a.weight.push_back(1);
  }
}

// from_origin: positions are counted from the first element's own, not from the edge half an element before it.
void add_linear(ResampleAxis& a, double step, bool from_origin) {
  // Equal sizes are a copy: a second tap of weight 0 would turn an infinity beside it into NaN.
  a.taps = a.in == a.out ? 1 : 2;
  for (int64_t o = 0; o < a.out; ++o) {
    if (a.taps == 1) {
      a.index.push_back(o);
      a.weight.push_back(1);
      continue;
    }
    // Positions before the first element's centre count as that centre, as in torch.
    const double at =
        from_origin ? step * static_cast<double>(o) : std::max(0.0, step * (static_cast<double>(o) + 0.5) - 0.5);
    const int64_t first = std::min(static_cast<int64_t>(at), a.in - 1);
    const double share = std::clamp(at - static_cast<double>(first), 0.0, 1.0);
    // The second tap stays inside: beyond the last element its share falls on that element.
    a.index.insert(a.index.end(), {first, std::min(first + 1, a.in - 1)});
    a.weight.insert(a.weight.end(), {1 - share, share});
  }
}

// Keys' cubic convolution.
double cubic(double x, double a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

void add_cubic(ResampleAxis& a, double step, bool align_corners) {
  a.taps = 4;
  for (int64_t o = 0; o < a.out; ++o) {
    // Not clamped as in linear: the taps are, one by one, so the curve goes on beyond the border.
    const double at = align_corners ? step * static_cast<double>(o) : step * (static_cast<double>(o) + 0.5) - 0.5;
    const double first = std::floor(at);
    for (int64_t k = -1; k <= 2; ++k) {
      a.index.push_back(std::clamp<int64_t>(static_cast<int64_t>(first) + k, 0, a.in - 1));
      a.weight.push_back(cubic(at - first - static_cast<double>(k), -0.75));
    }
  }
}

// The filter is widened by the step when the image shrinks, so every input element counts.
void add_antialiased(ResampleAxis& a, double step, bool is_cubic) {
  const double wide = std::max(step, 1.0);
  const double support = (is_cubic ? 2 : 1) * wide;
  // One width for all outputs: what a shorter window leaves over has weight 0 and an index that may be read.
  a.taps = static_cast<int64_t>(std::min(std::ceil(support) * 2 + 1, static_cast<double>(a.in)));
  for (int64_t o = 0; o < a.out; ++o) {
    const double center = step * (static_cast<double>(o) + 0.5);
    // torch truncates in these two places, and the bits of the weights depend on them.
    const int64_t begin = std::max<int64_t>(static_cast<int64_t>(center - support + 0.5), 0);  // NOLINT: see above
    const int64_t end = std::min(static_cast<int64_t>(center + support + 0.5), a.in);          // NOLINT: see above
    double total = 0;
    for (int64_t k = 0; k < a.taps; ++k) {
      const double x = (static_cast<double>(begin + k) - center + 0.5) / wide;
      const double w = is_cubic ? cubic(x, -0.5) : std::max(0.0, 1 - std::abs(x));
      a.index.push_back(std::min(begin + k, a.in - 1));
      a.weight.push_back(begin + k < end ? w : 0);
      total += a.weight.back();
    }
    // Divided by what is there: a window cut off by the border still gives a mean.
    for (auto w = a.weight.end() - a.taps; w != a.weight.end() && total != 0; ++w) *w /= total;
  }
}

}  // namespace

ResampleAxis resample_axis(int64_t in, int64_t out, double scale, const ResampleRule& rule) {
  ResampleAxis a;
  a.in = in;
  a.out = out;
  a.index.clear();
  a.weight.clear();
  const double step = step_of(in, out, scale, rule);
  if (rule.mode == "nearest" || rule.mode == "nearest_exact")
    add_nearest(a, step, rule);
  else if (rule.mode == "linear" || rule.mode == "linear_origin")
    add_linear(a, step, rule.align_corners || rule.mode == "linear_origin");
  else if (rule.mode == "cubic")
    add_cubic(a, step, rule.align_corners);
  else if (rule.mode == "linear_aa" || rule.mode == "cubic_aa")
    add_antialiased(a, step, rule.mode == "cubic_aa");
  else
    fail(Code::kInternal, "there is no way of resizing called '{}'", rule.mode);
  // Rounded once from double, for kernels in float.
  a.weight32.assign(a.weight.begin(), a.weight.end());
  return a;
}

}  // namespace npu::ops
