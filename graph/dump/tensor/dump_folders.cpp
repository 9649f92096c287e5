// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/tensor/dump_folders.h"

#include <fmt/format.h>

#include "graph/dump/record/dump_name.h"

namespace npu::graph {

DumpFolders::Place DumpFolders::of(const ops::Execution& execution) {
  if (execution.graph.empty()) return {fmt::format("{}/{}", root_, execution.device)};
  const std::lock_guard lock(mutex_);
  const auto [found, fresh] = graphs_.try_emplace({execution.device, execution.graph});
  Graph& graph = found->second;
  if (fresh) graph.number = graphs_.size();
  int64_t index = execution.step;
  if (!by_step_)
    index = graph.steps.try_emplace(execution.step, static_cast<int64_t>(graph.steps.size())).first->second;
  return {
      fmt::format("{}/{}/{}/{}/{}", root_, execution.device, record::path_word(execution.graph), graph.number, index),
      graph.number};
}

}  // namespace npu::graph
