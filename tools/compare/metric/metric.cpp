// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/metric/metric.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace npu::compare {
namespace {

constexpr double kZero = std::numeric_limits<double>::epsilon();
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kShown = 0.001;  // deviations and means below this are shown as zero

Cell not_a_number(std::string reason) { return {"NaN", std::move(reason)}; }

Cell cosine(const Measured& m, const Circumstances& c) {
  if (c.scalar) return {"1.000000", "This tensor is scalar."};
  const double x = std::sqrt(m.sums.xx), y = std::sqrt(m.sums.yy);
  const auto zeros = [](std::string_view file) {
    return not_a_number(fmt::format("Cosine similarity needs a direction, and all elements are zero in {}.", file));
  };
  if (x <= kZero && y < kZero) return {"1.0", ""};
  if (std::sqrt(x) <= kZero) return zeros(c.mine);
  if (std::sqrt(y) <= kZero) return zeros(c.golden);
  const double value = m.sums.xy / (x * y);
  return {fixed(value > 1 ? 1 : value), ""};
}

Cell divergence(const Measured& m) {
  const Spread& s = m.spread;
  if (!std::isfinite(m.sums.xx + m.sums.yy)) return {fixed(kNone), ""};
  // x and y are divided by their sums only here: the logarithm of both is taken out of the sum.
  const double value = s.weighted / s.x + std::log(s.y / s.x);
  return {fixed(std::abs(value) < kZero ? 0 : value), ""};
}

std::string side(double mean, double square, double count) {
  const auto shown = [](double value) { return fixed(std::abs(value) < kShown ? 0 : value, 3); };
  return fmt::format("({};{})", shown(mean), shown(std::sqrt(square / count)));
}

Cell deviation(const Measured& m) {
  const auto n = static_cast<double>(m.count);
  const auto square = [](double sum, double seen) { return std::isfinite(sum) ? seen : kNone; };
  return {side(m.sums.x / n, square(m.sums.xx, m.spread.square_x), n) + "," +
              side(m.sums.y / n, square(m.sums.yy, m.spread.square_y), n),
          ""};
}

double relative_distance(const Sums& s) { return std::sqrt(s.yy) <= kZero ? 0 : std::sqrt(s.square / s.yy); }

/// The largest of terms whose sum tells whether one is no number.
double most(double value, double sum) { return std::isnan(sum) ? kNone : value; }

double number(Metric metric, const Measured& m) {
  const auto n = static_cast<double>(m.count);
  const Sums& s = m.sums;
  switch (metric) {
    case Metric::kMaxAbsolute: return most(s.most_absolute, s.absolute);
    case Metric::kAccumulatedRelative: return s.relative;
    case Metric::kRelativeEuclidean: return relative_distance(s);
    case Metric::kMeanAbsolute: return s.absolute / n;
    case Metric::kRootMeanSquare: return std::sqrt(s.square / n);
    case Metric::kMaxRelative: return most(s.most_relative, s.relative);
    default: return s.relative / n;
  }
}

bool needs_an_element(Metric metric) {
  return metric == Metric::kMaxAbsolute || metric == Metric::kMaxRelative || metric == Metric::kDivergence;
}

}  // namespace

const Metrics& all_metrics() {
  static const Metrics all = [] {
    Metrics found;
    for (size_t i = 0; i < kMetricNames.size(); ++i) found.push_back(static_cast<Metric>(i));
    return found;
  }();
  return all;
}

std::string fixed(double value, int digits) {
  return std::isnan(value) ? "nan" : fmt::format("{:.{}f}", value, digits);
}

Cell cell(Metric metric, const Measured& measured, const Circumstances& c) {
  if (c.boolean && metric != Metric::kCosine && metric != Metric::kRelativeEuclidean)
    return not_a_number(fmt::format("Algorithm {} does not support Boolean types.", name_of(metric)));
  if (measured.count == 0 && needs_an_element(metric))
    return not_a_number(fmt::format("{} needs an element, and there is none.", name_of(metric)));
  if (metric == Metric::kCosine) return cosine(measured, c);
  if (metric == Metric::kDivergence) return divergence(measured);
  if (metric == Metric::kDeviation) return deviation(measured);
  return {fixed(number(metric, measured)), ""};
}

}  // namespace npu::compare
