// SPDX-License-Identifier: Apache-2.0
// The values of variables as TensorFlow's savers write them: PREFIX.index, a table of what there is, and the shards
// PREFIX.data-00000-of-00001, which hold the bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "graph/import/tensorflow/proto.h"
#include "graph/ir/attribute.h"

namespace npu::graph::tensorflow {

class Bundle {
 public:
  /// Raises 100003 where there is no index, 100006 and 207000 as read_table.
  explicit Bundle(const std::filesystem::path& prefix);

  bool has(std::string_view key) const { return entries_.contains(key); }
  /// The tensor of numbers that `key` names; its checksum is checked. Raises 161002 where there is none, 100003 without
  /// its shard, 100006 for damage, 207000 for strings and for tensors kept in slices.
  Literal read(std::string_view key) const;

 private:
  struct Entry {
    ValueType type;
    PartialShape shape{Dims()};
    int64_t shard = 0, offset = 0, size = 0;
    uint32_t checksum = 0;
    bool sliced = false;
  };
  static Entry read_entry(Bytes message);
  void read_header(Bytes message);
  std::vector<std::byte> read_bytes(std::string_view key, const Entry& entry) const;

  std::filesystem::path prefix_;
  int64_t shards_ = 0;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace npu::graph::tensorflow
