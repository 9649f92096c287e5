// SPDX-License-Identifier: Apache-2.0
// What -alg, -r and -s name.
#pragma once

#include <string>
#include <vector>

#include "tools/compare/metric/metric.h"
#include "tools/compare/rule/fusion_rule.h"

namespace npu::compare {

/// Metrics by name or number, with commas or blanks between them; "all", and nothing, are all. Unknown ones are told
/// and passed over; a Refusal where none is left.
Metrics selected(const std::vector<std::string>& words);

/// Groups of a rule, those of operators whose places in the graph are named. Both texts empty: all groups.
std::vector<size_t> selected_groups(const FusionRule& rule, const std::string& range, const std::string& select);

}  // namespace npu::compare
