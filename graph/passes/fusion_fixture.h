// SPDX-License-Identifier: Apache-2.0
// What tests of fusions share: nodes that were made, told in one line each, and numbers in several dtypes.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/half.h"
#include "graph/graph_fixture.h"
#include "graph/ir/verify.h"
#include "graph/passes/pass.h"

namespace npu::graph {

struct FusionOutcome {
  std::vector<std::string> fused;  ///< "_Fused… of parts, 3 in, 1 out"
  FusionCount count;
};

inline FusionOutcome outcome_of(const TestFunction& before, void (*fuse)(Function&, Program&, FusionCount&)) {
  FusionOutcome out;
  Function f = *before.function();
  Program none;
  fuse(f, none, out.count);
  verify(f, none);
  for (const Node& node : f.nodes) {
    if (!node.parts) continue;
    std::string line = node.op + " of";
    for (const Node* part : origins(node)) line += " " + part->op;
    out.fused.push_back(line + fmt::format(", {} in, {} out", node.inputs.size(), node.outputs.size()));
  }
  return out;
}

template <class T>
Value wave_of(const Dims& shape, double phase) {
  std::vector<T> out(static_cast<size_t>(count_of(shape)));
  // All are halves, so that every dtype computes with the same numbers.
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<T>(
        static_cast<float>(Half(static_cast<float>(std::sin(static_cast<double>(i) * 0.37 + phase) * 3 + 1))));
  return value_of<T>(shape, out);
}

inline Value wave(DType dtype, const Dims& shape, double phase) {
  return dtype == DType::kDouble  ? wave_of<double>(shape, phase)
         : dtype == DType::kFloat ? wave_of<float>(shape, phase)
                                  : wave_of<Half>(shape, phase);
}

template <class T>
std::vector<double> widened(const Value& value) {
  const std::vector<T> numbers = numbers_of<T>(value);
  return {numbers.begin(), numbers.end()};
}

inline std::vector<double> doubles(const Value& value) {
  const DType dtype = value.tensor.dtype;
  return dtype == DType::kDouble  ? widened<double>(value)
         : dtype == DType::kFloat ? widened<float>(value)
                                  : widened<Half>(value);
}

/// The largest difference, as a part of the largest number.
inline double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0, largest = 0;
  for (size_t i = 0; i < a.size(); ++i)
    most = std::max(most, std::abs(a[i] - b[i])), largest = std::max(largest, std::abs(b[i]));
  return most / largest;
}

}  // namespace npu::graph
