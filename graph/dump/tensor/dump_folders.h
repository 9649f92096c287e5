// SPDX-License-Identifier: Apache-2.0
// Where in a dump the files of a task lie: {device}/{graph}/{graph's number}/{index}, outside of graphs {device}.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "ops/runner/observer.h"

namespace npu::graph {

class DumpFolders {
 public:
  /// `by_step`: the index is the step; else it counts the steps that were dumped.
  DumpFolders(std::string root, bool by_step) : root_(std::move(root)), by_step_(by_step) {}

  struct Place {
    std::string folder;
    size_t graph = 0;  ///< its number, from 1; 0 outside of graphs
  };
  Place of(const ops::Execution& execution);
  const std::string& root() const { return root_; }

 private:
  struct Graph {
    size_t number = 0;
    std::map<int64_t, int64_t> steps;  ///< the index of each step that was dumped
  };
  const std::string root_;
  const bool by_step_;
  std::mutex mutex_;
  std::map<std::pair<int, std::string>, Graph> graphs_;
};

}  // namespace npu::graph
