// SPDX-License-Identifier: Apache-2.0
// All operators of a run against those of another one.
#pragma once

#include <functional>

#include "tools/compare/folder/dump_folder.h"
#include "tools/compare/network/tensor_row.h"
#include "tools/compare/rule/fusion_rule.h"

namespace npu::compare {

/// What is done on all threads of the pool, the largest first.
struct Task {
  uint64_t bytes = 0;
  std::function<Outcome()> run;
};
/// In the order of the tasks. What one raises becomes its outcome.
std::vector<Outcome> run_all(const std::vector<Task>& tasks);

/// Dumps of the NPU on both sides: operators and tensors of the same names and numbers.
std::vector<Outcome> compare_same_names(const DumpFolder& mine, const DumpFolder& golden, const Options& options);

/// By a graph that tells which operators of the golden's model were fused into which. `groups` are those of the rule
/// that are wanted.
std::vector<Outcome> compare_by_rule(const DumpFolder& mine, const DumpFolder& golden, const FusionRule& rule,
                                     const std::vector<size_t>& groups, const Options& options);

}  // namespace npu::compare
