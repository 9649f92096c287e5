// SPDX-License-Identifier: Apache-2.0
// Writes tables, checkpoints and SavedModels for tests.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "graph/import/damage_fixture.h"
#include "graph/import/tensorflow/message_fixture.h"
#include "graph/import/tensorflow/saved_model/crc32c.h"

namespace npu::graph::tensorflow {

template <class T>
std::string bytes_of(T number) {
  std::string out(sizeof number, '\0');
  std::memcpy(out.data(), &number, sizeof number);
  return out;
}

/// A block of entries that share beginnings of keys, and its trailer.
inline std::string block_of(const std::map<std::string, std::string>& entries, char compressed = 0) {
  std::string out, before;
  for (const auto& [key, value] : entries) {
    size_t shared = 0;
    while (shared < std::min(before.size(), key.size()) && before[shared] == key[shared]) ++shared;
    out += varint(shared) + varint(key.size() - shared) + varint(value.size()) + key.substr(shared) + value;
    before = key;
  }
  out += bytes_of<uint32_t>(0) + bytes_of<uint32_t>(1) + compressed;
  return out + bytes_of(masked(crc32c(out)));
}

/// Where the table's parts lie is counted as they are added.
class TableWriter {
 public:
  std::string add(const std::string& block) {
    const std::string handle = varint(file_.size()) + varint(block.size() - 5);
    file_ += block;
    return handle;
  }
  std::string finish(const std::map<std::string, std::string>& index) {
    std::string footer = add(block_of({}));
    footer += add(block_of(index));
    footer.resize(40, '\0');
    return file_ + footer + bytes_of<uint64_t>(0xDB4775248B80FB57);
  }

 private:
  std::string file_;
};

/// A table of two blocks, so that readers must follow the index.
inline std::string table_of(const std::map<std::string, std::string>& entries, char compressed = 0) {
  TableWriter writer;
  std::map<std::string, std::string> first = entries, second, index;
  while (first.size() > entries.size() / 2) second.insert(first.extract(std::prev(first.end())));
  if (!first.empty()) index[first.rbegin()->first] = writer.add(block_of(first, compressed));
  if (!second.empty()) index[second.rbegin()->first] = writer.add(block_of(second, compressed));
  return writer.finish(index);
}

/// A tensor of a checkpoint as its entry tells it.
struct TestEntry {
  int type = kFloat;
  std::vector<int64_t> shape;
  std::string bytes;
  int64_t shard = 0;
  std::string more = {};  ///< fields behind those
};

inline std::string entry_of(const TestEntry& e, size_t offset) {
  return message([&](auto& w) {
           w.add_enum(field::kEntryType, e.type);
           w.add_message(field::kEntryShape, shape(e.shape));
           if (e.shard > 0) w.add_int64(field::kShard, e.shard);
           if (offset > 0) w.add_uint64(field::kOffset, offset);
           w.add_uint64(field::kEntrySize, e.bytes.size());
           w.add_fixed32(field::kChecksum, masked(crc32c(e.bytes)));
         }) +
         e.more;
}

inline std::string floats(const std::vector<float>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)};
}

/// A folder that ends with the test.
class TestFolder {
 public:
  TestFolder() {
    static std::atomic<int> count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("saved_model_" + std::to_string(getpid()) + "_" + std::to_string(count++));
    std::filesystem::create_directories(path_ / "variables");
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path prefix() const { return path_ / "variables" / "variables"; }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / "variables" / name, std::ios::binary | std::ios::trunc) << bytes;
  }
  /// variables.index and as many shards as the entries speak of.
  void write_bundle(const std::map<std::string, TestEntry>& entries) const {
    write("variables.index", table_of(index_and_shards(entries)));
  }
  /// Writes the shards; gives what the index is to hold.
  std::map<std::string, std::string> index_and_shards(const std::map<std::string, TestEntry>& entries) const {
    std::map<std::string, std::string> index;
    std::vector<std::string> shards(1);
    for (const auto& [key, e] : entries) {
      shards.resize(std::max(shards.size(), static_cast<size_t>(e.shard) + 1));
      std::string& shard = shards[static_cast<size_t>(e.shard)];
      index[key] = entry_of(e, shard.size());
      shard += e.bytes;
    }
    index[""] = message([&](auto& w) { w.add_uint64(field::kNumShards, shards.size()); });
    for (size_t i = 0; i < shards.size(); ++i) {
      char name[64];
      std::snprintf(name, sizeof name, "variables.data-%05zu-of-%05zu", i, shards.size());
      write(name, shards[i]);
    }
    return index;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace npu::graph::tensorflow
