// SPDX-License-Identifier: Apache-2.0
// Operators that a client runs one by one, each as a function of one node, compiled when it is met first.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/dump/watched_library.h"
#include "graph/import/tensorflow/reader.h"

namespace npu::acl {

class OperatorCache {
 public:
  static constexpr size_t kMost = 1024;  ///< a client may give each call another seed; the least recently used goes

  OperatorCache(graph::WatchedLibrary& library, const graph::tensorflow::Catalogue& catalogue)
      : library_(library), catalogue_(catalogue) {}

  /// The operator of these NodeDef bytes on inputs of these types. Raises what reading it raises.
  std::shared_ptr<graph::Executable> get(graph::Bytes node_def, const std::vector<graph::Value>& inputs);

 private:
  struct Entry {
    std::string key, name;
    std::shared_ptr<graph::Executable> executable;
  };
  Entry make(std::string key, graph::Bytes node_def, const std::vector<graph::ValueType>& types);

  graph::WatchedLibrary& library_;
  const graph::tensorflow::Catalogue& catalogue_;
  std::mutex mutex_;
  int64_t made_ = 0;
  std::list<Entry> entries_;  ///< the last used first
  std::unordered_map<std::string, std::list<Entry>::iterator> found_;
};

}  // namespace npu::acl
