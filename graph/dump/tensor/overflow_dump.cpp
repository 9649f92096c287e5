// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/tensor/overflow_dump.h"

#include <algorithm>

#include "base/log.h"
#include "graph/dump/record/dump_name.h"
#include "graph/dump/tensor/overflow_file.h"
#include "graph/dump/tensor/statistics.h"
#include "graph/dump/tensor/task_content.h"

namespace npu::graph {
namespace {

bool finite(const Tensor& tensor) { return !statistics_if_not_finite(tensor); }

/// Which output the elements are of; a fused node has results inside that are none.
std::optional<size_t> output_of(const ops::Execution& execution, const ops::FoundOverflow& found) {
  for (size_t i = 0; i < execution.outputs.size(); ++i)
    if (execution.outputs[i].tensor.bytes() == found.data) return i;
  return std::nullopt;
}

std::vector<OverflowedResult> saturated(const ops::Execution& execution) {
  std::vector<OverflowedResult> results;
  for (const ops::FoundOverflow& found : execution.overflows) {
    const device::Overflow& o = found.overflow;
    results.push_back(
        {output_of(execution, found), o.output, o.dtype, o.shape, o.infinities, o.nans, o.saturated, o.least, o.most});
  }
  return results;
}

std::vector<OverflowedResult> not_finite(const ops::Execution& execution) {
  std::vector<OverflowedResult> results;
  for (size_t i = 0; i < execution.outputs.size(); ++i) {
    const auto& [field, tensor] = execution.outputs[i];
    if (const auto s = statistics_if_not_finite(tensor))
      results.push_back(
          {i, std::string(field), tensor.dtype, tensor.shape, s->infinities(), s->nans, 0, s->least, s->most});
  }
  return results;
}

/// One task: its inputs are kept before it runs, as it may write over them.
class OverflowTask final : public ops::Watch {
 public:
  OverflowTask(OverflowDump& dump, const ops::Execution& execution) : dump_(dump) { content_.keep_inputs(execution); }

  void finished(const ops::Execution& execution) override {
    const std::vector<OverflowedResult> results = overflowed(execution);
    if (results.empty() || !dump_.take(execution.device)) return;
    content_.keep_outputs(execution);
    const DumpFolders::Place place = dump_.folders().of(execution);
    const uint64_t now = unique_now();
    OverflowFiles files = overflow_files(execution, results, place, now, ops::is_collective(execution));
    NPU_LOG(kWarning, "DUMP", "device {}: {} '{}' overflowed; its tensors are in {}", execution.device,
            execution.name.type, execution.name.node, place.folder);
    dump_.writer().put(content_.file(execution, place.folder, now));
    dump_.writer().put(std::move(files.record));
    dump_.writer().put(std::move(files.words));
  }

 private:
  std::vector<OverflowedResult> overflowed(const ops::Execution& execution) const {
    if (!execution.computes) return {};
    if (!execution.overflows.empty()) return saturated(execution);
    // Without inputs it brings data, whatever they are.
    if (execution.inputs.empty()) return {};
    std::vector<OverflowedResult> results = not_finite(execution);
    if (!results.empty() && !content_.kept(execution.inputs, finite)) return {};
    return results;
  }

  OverflowDump& dump_;
  TaskContent content_{false};
};

}  // namespace

bool OverflowDump::wants(const ops::Execution& execution) const {
  return which_ == Overflows::kAll || (which_ == Overflows::kAtomic) == ops::is_collective(execution);
}

std::unique_ptr<ops::Watch> OverflowDump::start(const ops::Execution& execution) {
  if (!wants(execution) || count(execution.device).load(std::memory_order_relaxed) >= kMostDumpedOverflows)
    return nullptr;
  return std::make_unique<OverflowTask>(*this, execution);
}

}  // namespace npu::graph
