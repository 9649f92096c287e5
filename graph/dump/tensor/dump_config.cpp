// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/tensor/dump_config.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/split.h"
#include "graph/dump/record/dump_name.h"

namespace npu::graph {
namespace {

int64_t step_of(std::string_view text, std::string_view whole) {
  int64_t step = -1;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), step);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || step < 0)
    fail(Code::kInvalidDumpConfig,
         "dump_step is \"{}\": \"{}\" is no step; write numbers and ranges joined by |, as in \"0|3-5|10\"", whole,
         text);
  return step;
}

bool named(const DumpConfig::Names& names, std::string_view name) {
  return names.contains(name) || names.contains(record::path_word(name));
}

bool holds(const DumpConfig::Names& layers, const ops::Execution& execution) {
  return layers.empty() || named(layers, execution.name.node) ||
         std::any_of(execution.origins.begin(), execution.origins.end(),
                     [&](const std::string& name) { return named(layers, name); });
}

}  // namespace

StepSet StepSet::parse(std::string_view text) {
  StepSet steps;
  if (text.empty()) return steps;
  for (const std::string_view item : split(text, "|")) {
    const size_t dash = item.find('-');
    const int64_t first = step_of(item.substr(0, dash), text);
    const int64_t last = dash == item.npos ? first : step_of(item.substr(dash + 1), text);
    if (first > last)
      fail(Code::kInvalidDumpConfig, "dump_step is \"{}\": the range \"{}\" must go from a smaller to a larger step",
           text, item);
    steps.ranges_.emplace_back(first, last);
  }
  if (steps.ranges_.size() > kMostItems)
    fail(Code::kInvalidDumpConfig, "dump_step has {} items; at most {} are taken, join some to ranges",
         steps.ranges_.size(), kMostItems);
  return steps;
}

bool StepSet::contains(int64_t step) const {
  return every() || std::any_of(ranges_.begin(), ranges_.end(),
                                [&](const auto& range) { return step >= range.first && step <= range.second; });
}

bool DumpConfig::wants(const ops::Execution& execution) const {
  if (execution.graph.empty()) return single_operators && holds(layers, execution);
  if (!graphs || !steps.contains(execution.step) || !holds(layers, execution)) return false;
  if (models.empty()) return true;
  auto model = models.find(execution.graph);
  if (model == models.end()) model = models.find(record::path_word(execution.graph));
  return model != models.end() && holds(model->second, execution);
}

}  // namespace npu::graph
