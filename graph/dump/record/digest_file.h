// SPDX-License-Identifier: Apache-2.0
// A file of digests: of each operator that ran, in the order in which they ended, 64 bits for each tensor that it read
// and wrote. Two runs are compared by it without a tensor on disk. Numbers are little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/dump/record/mapped_file.h"

namespace npu::graph::record {

/// What runs in order: a stream of calls, or a graph.
struct Lane {
  int32_t device = 0, stream = 0;
  std::string_view graph;  ///< "" outside of graphs
  auto operator<=>(const Lane&) const = default;
};

/// One operator of a run; as text "0/3/17/graph". Runs that go the same way have the same ones at equal places.
struct Place {
  int32_t device = 0, stream = 0;
  uint64_t ordinal = 0;  ///< in its lane, from 0
  std::string graph;

  Lane lane() const { return {device, stream, graph}; }
};
std::string to_string(const Place& place);
/// Nothing for a text that is none.
std::optional<Place> place_of(std::string_view text);

struct DigestedTask {
  std::string_view type, node;
  Lane lane;
  int64_t step = 0;         ///< of the graph
  uint64_t parameters = 0;  ///< digest of what it was given beside tensors; 0 of a graph's node
  std::vector<uint64_t> inputs, outputs;
};

/// Makes the bytes of a file, a piece at a time.
class DigestEncoder {
 public:
  DigestEncoder();
  void add(const DigestedTask& task);
  void end();
  /// What has been made since the last call.
  std::string take();
  size_t size() const { return bytes_.size(); }

 private:
  uint32_t number_of(std::string_view text);
  template <class T>
  void put(T number);

  std::string bytes_;
  std::map<std::string, uint32_t, std::less<>> texts_;
  uint64_t tasks_ = 0;
};

class DigestFile {
 public:
  /// Raises 100003 for a file that cannot be read, 100006 for one that is no such file or was changed.
  explicit DigestFile(const std::string& path);

  /// In the order of the file; texts live as long as this object.
  const std::vector<DigestedTask>& tasks() const { return tasks_; }
  /// False where the process was killed, or the disk was full, before all was written.
  bool complete() const { return complete_; }

 private:
  MappedFile file_;
  std::vector<DigestedTask> tasks_;
  bool complete_ = false;
};

}  // namespace npu::graph::record
