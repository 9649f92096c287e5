// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/culprit/tolerance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace npu::compare {
namespace {

constexpr double kOwn = 16;          // roundings of a few steps, as frameworks on one machine differ
constexpr double kGrowth = 16;       // of an input's error in an operator that is well conditioned
constexpr double kIllGrowth = 1024;  // in one that divides by what may be small, or takes exponentials
constexpr double kFusedOwn = 64;     // several operators in one, with cancellation among them

using Words = std::span<const std::string_view>;
constexpr std::array<std::string_view, 5> kContractions = {"MatMul", "Conv", "Einsum", "Attention", "linear"};
constexpr std::array<std::string_view, 14> kIll = {"Rsqrt",   "Norm",    "Div",       "Log",        "Pow",
                                                   "Exp",     "Softmax", "Attention", "Recip",      "Loss",
                                                   "Entropy", "Sqrt",    "Tan",       "Elementwise"};
constexpr std::array<std::string_view, 17> kJumps = {"Relu",   "Max",   "Min",  "Greater", "Less",  "Equal",
                                                     "Select", "Where", "Sign", "Round",   "Floor", "Ceil",
                                                     "Cast",   "ArgM",  "TopK", "relu",    "max"};

bool any(const std::string& text, Words words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.find(word) != text.npos; });
}

double count_of(uint64_t count) { return static_cast<double>(std::max<uint64_t>(1, count)); }

/// Of two operands A and B that give C: the root of |A| |B| / |C|.
double contraction_length(const std::vector<Reading>& inputs, double out) {
  std::vector<double> sizes;
  for (const Reading& input : inputs) sizes.push_back(count_of(input.count));
  std::ranges::sort(sizes, std::greater());
  return sizes.size() < 2 ? 1 : std::sqrt(std::max(1.0, sizes[0] * sizes[1] / out));
}

double reduction_of(const std::string& types, const std::vector<Reading>& inputs, const Deviation& output) {
  const double out = count_of(output.count);
  if (any(types, kContractions)) return contraction_length(inputs, out);
  double most = 1;
  for (const Reading& input : inputs) most = std::max(most, count_of(input.count) / out);
  if (any(types, kIll) && !output.shape.empty()) most = std::max(most, count_of(output.shape.back()));
  return most;
}

/// Sums may cancel: their roundings are those of the terms.
double scale_of(const std::string& types, const std::vector<Reading>& inputs, const Deviation& output, double length) {
  double scale = output.largest;
  if (any(types, kContractions)) {
    std::vector<double> sizes;
    for (const Reading& input : inputs) sizes.push_back(input.root_mean_square);
    std::ranges::sort(sizes, std::greater());
    if (sizes.size() > 1) scale = std::max(scale, std::sqrt(length) * sizes[0] * sizes[1]);
  } else if (types.find("Mul") == types.npos || types.find("Elementwise") != types.npos) {
    const bool sum = types.find("Sum") != types.npos || types.find("BiasAddGrad") != types.npos;
    for (const Reading& input : inputs)
      scale = std::max(scale, sum ? std::sqrt(length) * input.root_mean_square : input.root_mean_square);
  }
  return scale;
}

}  // namespace

double Tolerance::allowed(double epsilon) const {
  return scale *
         (epsilon * (growth > kGrowth ? kFusedOwn : kOwn) + epsilon * std::sqrt(reduction) + growth * input_error);
}

Tolerance tolerance_of(const Operator& op, const std::vector<Reading>& inputs, const Deviation& output) {
  const std::string types = op.types();
  Tolerance found;
  found.reduction = reduction_of(types, inputs, output);
  found.scale = scale_of(types, inputs, output, found.reduction);
  found.growth = any(types, kIll) ? kIllGrowth : kGrowth;
  for (const Reading& input : inputs) found.input_error = std::max(found.input_error, input.error);
  return found;
}

bool jumps(const Operator& op) { return any(op.types(), kJumps); }

}  // namespace npu::compare
