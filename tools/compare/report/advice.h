// SPDX-License-Identifier: Apache-2.0
// What a result suggests to look at first.
#pragma once

#include <string>
#include <vector>

namespace npu::compare {

struct AdviceRow {
  size_t index;
  std::string op, overflow, cosine;
};

/// Three lines: what was detected, at which Index of the result, and what to do.
std::string advice_of(const std::vector<AdviceRow>& rows, const std::vector<std::string>& graph_inputs);

}  // namespace npu::compare
