// SPDX-License-Identifier: Apache-2.0
// The ten metrics as texts of a result's columns.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "tools/compare/metric/measure.h"

namespace npu::compare {

enum class Metric {
  kCosine,
  kMaxAbsolute,
  kAccumulatedRelative,
  kRelativeEuclidean,
  kDivergence,
  kDeviation,
  kMeanAbsolute,
  kRootMeanSquare,
  kMaxRelative,
  kMeanRelative
};
inline constexpr std::array<std::string_view, 10> kMetricNames = {
    "CosineSimilarity",          "MaxAbsoluteError",  "AccumulatedRelativeError", "RelativeEuclideanDistance",
    "KullbackLeiblerDivergence", "StandardDeviation", "MeanAbsoluteError",        "RootMeanSquareError",
    "MaxRelativeError",          "MeanRelativeError"};
inline std::string_view name_of(Metric metric) { return kMetricNames[static_cast<size_t>(metric)]; }
using Metrics = std::vector<Metric>;
const Metrics& all_metrics();
/// Whether a metric needs the second pass.
inline bool needs_spread(Metric metric) { return metric == Metric::kDivergence || metric == Metric::kDeviation; }

/// What a metric is told beside the numbers.
struct Circumstances {
  bool scalar = false;            ///< one element
  bool boolean = false;           ///< both sides are truth values
  std::string_view mine, golden;  ///< the files, for reasons
};

/// The column's text, and a reason where there is something to say.
struct Cell {
  std::string text;
  std::string reason;
};
Cell cell(Metric metric, const Measured& measured, const Circumstances& circumstances);

/// "%.6f" as Python writes it.
std::string fixed(double value, int digits = 6);

}  // namespace npu::compare
