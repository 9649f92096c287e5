// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/metric/metric.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace npu::compare {
namespace {

View view_of(const std::vector<float>& values) {
  return {&graph::record::data_type(1), std::as_bytes(std::span(values)), {values.size()}, std::nullopt, values.size()};
}

std::vector<double> doubles(const std::vector<float>& values) { return {values.begin(), values.end()}; }

double mean(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += x;
  return sum / static_cast<double>(v.size());
}

double deviation(const std::vector<double>& v) {
  const double middle = mean(v);
  double sum = 0;
  for (const double x : v) sum += (x - middle) * (x - middle);
  return std::sqrt(sum / static_cast<double>(v.size()));
}

std::vector<double> distribution(std::vector<double> v) {
  const auto [low, high] = std::minmax_element(v.begin(), v.end());
  const double least = *low, range = *high - *low;
  double sum = 0;
  for (double& x : v) sum += x = std::max(range != 0 ? (x - least) / range : x, std::ldexp(1.0, -23));
  for (double& x : v) x /= sum;
  return v;
}

/// The formulas as they are published, in double and one after another.
double plainly(Metric metric, const std::vector<double>& x, const std::vector<double>& y) {
  std::vector<double> absolute, square, relative;
  double xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    absolute.push_back(std::abs(x[i] - y[i])), square.push_back((x[i] - y[i]) * (x[i] - y[i]));
    relative.push_back(std::abs(y[i]) > 2.3e-16 ? std::abs(x[i] / y[i] - 1) : 0);
    xy += x[i] * y[i], xx += x[i] * x[i], yy += y[i] * y[i];
  }
  const auto n = static_cast<double>(x.size());
  switch (metric) {
    case Metric::kCosine: return std::min(xy / std::sqrt(xx * yy), 1.0);
    case Metric::kMaxAbsolute: return *std::max_element(absolute.begin(), absolute.end());
    case Metric::kAccumulatedRelative: return mean(relative) * n;
    case Metric::kRelativeEuclidean: return std::sqrt(mean(square) * n / yy);
    case Metric::kMeanAbsolute: return mean(absolute);
    case Metric::kRootMeanSquare: return std::sqrt(mean(square));
    case Metric::kMaxRelative: return *std::max_element(relative.begin(), relative.end());
    case Metric::kMeanRelative: return mean(relative);
    default: break;
  }
  const auto p = distribution(x), q = distribution(y);
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) sum += p[i] * std::log(p[i] / q[i]);
  return sum;
}

Cell cell_of(Metric metric, const std::vector<float>& x, const std::vector<float>& y, Circumstances c = {}) {
  return cell(metric, measure(view_of(x), view_of(y), x.size(), true), c);
}
std::string text_of(Metric metric, const std::vector<float>& x, const std::vector<float>& y) {
  return cell_of(metric, x, y).text;
}

TEST(Metric, IsWhatItsFormulaSays) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal(0.3f, 2);
  for (const size_t size : {1, 2, 3, 7, 8, 9, 31, 2047, 2048, 2049, 5000, 600000}) {
    std::vector<float> x(size), y(size);
    for (size_t i = 0; i < size; ++i) {
      y[i] = i % 11 == 5 ? 0 : normal(random);
      x[i] = y[i] * (1 + 0.01f * normal(random)) + 0.001f;
    }
    for (const Metric metric : all_metrics()) {
      if (metric == Metric::kDeviation) continue;
      const double wanted = plainly(metric, doubles(x), doubles(y));
      EXPECT_NEAR(std::stod(text_of(metric, x, y)), wanted, 1e-6 + 2e-6 * std::abs(wanted)) << name_of(metric) << size;
    }
    EXPECT_EQ(text_of(Metric::kDeviation, x, y),
              fmt::format("({};{}),({};{})", fixed(mean(doubles(x)), 3), fixed(deviation(doubles(x)), 3),
                          fixed(mean(doubles(y)), 3), fixed(deviation(doubles(y)), 3)));
  }
}

TEST(Metric, ZerosHaveNoDirection) {
  const std::vector<float> zeros(10), ones(10, 1.0f);
  EXPECT_EQ(text_of(Metric::kCosine, zeros, zeros), "1.0");
  const Cell mine = cell_of(Metric::kCosine, zeros, ones, {false, false, "mine.npy", "golden.npy"});
  EXPECT_EQ(mine.text, "NaN");
  EXPECT_NE(mine.reason.find("mine.npy"), std::string::npos);
  EXPECT_NE(cell_of(Metric::kCosine, ones, zeros, {false, false, "m", "golden.npy"}).reason.find("golden.npy"),
            std::string::npos);
  EXPECT_EQ(text_of(Metric::kRelativeEuclidean, ones, zeros), "0.000000");
  EXPECT_EQ(text_of(Metric::kMaxRelative, ones, zeros), "0.000000");
  EXPECT_EQ(text_of(Metric::kDeviation, ones, zeros), "(1.000;0.000),(0.000;0.000)");
}

TEST(Metric, AScalarIsEqualAndSaysSo) {
  const Cell found = cell_of(Metric::kCosine, {3}, {4}, {true, false, "", ""});
  EXPECT_EQ(found.text, "1.000000");
  EXPECT_EQ(found.reason, "This tensor is scalar.");
  EXPECT_EQ(text_of(Metric::kMaxAbsolute, {3}, {4}), "1.000000");
}

TEST(Metric, WhatIsNoNumberStaysNone) {
  std::vector<float> x(100, 1.5f), y(100, 1.5f);
  for (const size_t at : {size_t{3}, size_t{99}}) {
    auto bad = x;
    bad[at] = std::nanf("");
    for (const Metric metric : all_metrics()) {
      if (metric == Metric::kDeviation) continue;
      EXPECT_EQ(text_of(metric, bad, y), "nan") << name_of(metric);
    }
    EXPECT_EQ(text_of(Metric::kDeviation, bad, y), "(nan;nan),(1.500;0.000)");
    EXPECT_EQ(text_of(Metric::kMaxRelative, x, bad), "0.000000");  // as the formula: no number is not above zero
  }
  auto endless = x;
  endless[50] = INFINITY;
  EXPECT_EQ(text_of(Metric::kMaxAbsolute, endless, y), "inf");
  EXPECT_EQ(text_of(Metric::kDivergence, endless, y), "nan");
  EXPECT_EQ(text_of(Metric::kMaxAbsolute, endless, endless), "nan");
}

TEST(Metric, NoElementsGiveReasons) {
  EXPECT_EQ(text_of(Metric::kMaxAbsolute, {}, {}), "NaN");
  EXPECT_EQ(text_of(Metric::kAccumulatedRelative, {}, {}), "0.000000");
  EXPECT_EQ(text_of(Metric::kMeanAbsolute, {}, {}), "nan");
}

TEST(Metric, TruthValuesHaveTwo) {
  const Circumstances c{false, true, "", ""};
  EXPECT_EQ(cell_of(Metric::kCosine, {1, 0, 1}, {1, 0, 1}, c).text, "1.000000");
  EXPECT_EQ(cell_of(Metric::kMaxAbsolute, {1, 0}, {1, 0}, c).text, "NaN");
}

}  // namespace
}  // namespace npu::compare
