// SPDX-License-Identifier: Apache-2.0
// What of the executed operators is written, and where: the vendor's words, from wherever they come.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ops/runner/observer.h"

namespace npu::graph {

/// Steps by number: "0|3-5|10".
class StepSet {
 public:
  static constexpr size_t kMostItems = 100;
  /// Empty text: every step. Raises 100009 for what is neither a number nor a range a-b with a <= b, and for more
  /// items.
  static StepSet parse(std::string_view text);
  bool contains(int64_t step) const;
  bool every() const { return ranges_.empty(); }

 private:
  std::vector<std::pair<int64_t, int64_t>> ranges_;
};

/// Whose overflows are dumped: operators', sums' between devices, or both.
enum class Overflows { kNone, kAiCore, kAtomic, kAll };

struct DumpConfig {
  using Names = std::set<std::string, std::less<>>;

  std::string path;  ///< a folder that is there
  bool inputs = false, outputs = true;
  bool statistics = false;                 ///< in place of the elements
  Overflows overflows = Overflows::kNone;  ///< not all operators, but those that overflow, with all their tensors
  StepSet steps;
  Names layers;                         ///< of every graph; empty: all
  std::map<std::string, Names> models;  ///< graphs by name, and the layers of each, empty for all; no graph: all
  bool graphs = true;
  bool single_operators = true;  ///< calls outside of graphs, collectives among them

  /// Whether a task is to be written. Names count in the client's spelling and in that of files; a fused node counts
  /// for each that it holds.
  bool wants(const ops::Execution& execution) const;
};

}  // namespace npu::graph
