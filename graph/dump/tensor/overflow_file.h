// SPDX-License-Identifier: Apache-2.0
// What is written of an overflow beside the tensors: Opdebug.Node_OpDebug.{task}.{stream}.{microseconds}, a dump file
// whose one output is the record, and what it says in words, as overflow_{task}_{stream}_{microseconds}.json.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/dump/tensor/dump_folders.h"
#include "graph/dump/tensor/file_writer.h"
#include "ops/runner/observer.h"

namespace npu::graph {

/// A result that left its range.
struct OverflowedResult {
  std::optional<size_t> output;  ///< which one; nothing for one inside of a fused node
  std::string name;
  DType dtype = DType::kUndefined;
  Dims shape;
  int64_t infinities = 0, nans = 0, saturated = 0;
  double least = 0, most = 0;  ///< of the finite elements
};

struct OverflowFiles {
  FileContent record, words;
};
/// `atomic`: it happened in a sum between devices.
OverflowFiles overflow_files(const ops::Execution& execution, const std::vector<OverflowedResult>& results,
                             const DumpFolders::Place& place, uint64_t now, bool atomic);

}  // namespace npu::graph
