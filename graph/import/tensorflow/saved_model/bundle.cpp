// SPDX-License-Identifier: Apache-2.0
#include "graph/import/tensorflow/saved_model/bundle.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <utility>

#include "base/file.h"
#include "graph/import/tensorflow/saved_model/crc32c.h"
#include "graph/import/tensorflow/saved_model/table.h"
#include "graph/import/tensorflow/value.h"

namespace npu::graph::tensorflow {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHeader = "";  // its key
constexpr const char* kCure = "copy the whole folder of the model";
constexpr int64_t kMostShards = 100000;         // as many as their names count
constexpr int64_t kLargest = int64_t{1} << 36;  // 64 GiB, of one tensor

std::string read_whole(const fs::path& path) {
  std::optional<std::string> text = whole_file(path.string());
  if (text) return *std::move(text);
  fail(Code::kInvalidFile, "{}: {}; {}", path.string(), errno == EISDIR ? "it is a folder" : std::strerror(errno),
       kCure);
}

}  // namespace

Bundle::Bundle(const fs::path& prefix) : prefix_(prefix) {
  const std::string index = prefix.string() + ".index";
  const Table table = read_table(read_whole(index), index);
  parsed(index, [&] {
    for (const auto& [key, value] : table)
      if (key == kHeader)
        read_header(value);
      else
        entries_.emplace(key, read_entry(value));
  });
  if (shards_ < 1 || shards_ >= kMostShards)
    fail(Code::kParseFile, "{} speaks of {} shards; {}", index, shards_, kCure);
}

void Bundle::read_header(Bytes message) {
  each_field(message, [&](Field f) {
    if (f.number() == field::kNumShards) shards_ = f.integer();
    if (f.number() == field::kEndianness && f.integer() != 0)
      fail(Code::kFeatureUnsupported, "{} was written by a big-endian machine; save the model again on another",
           prefix_.string());
  });
}

Bundle::Entry Bundle::read_entry(Bytes message) {
  Entry out;
  each_field(message, [&](Field f) {
    switch (f.number()) {
      case field::kEntryType: out.type = value_type(f.integer()); break;
      case field::kEntryShape: out.shape = read_shape(f.bytes()); break;
      case field::kShard: out.shard = f.integer(); break;
      case field::kOffset: out.offset = f.integer(); break;
      case field::kEntrySize: out.size = f.integer(); break;
      case field::kChecksum: out.checksum = f.fixed32(); break;
      case field::kSlices: out.sliced = true; break;
      default: break;
    }
  });
  return out;
}

std::vector<std::byte> Bundle::read_bytes(std::string_view key, const Entry& entry) const {
  const std::string shard = fmt::format("{}.data-{:05}-of-{:05}", prefix_.string(), entry.shard, shards_);
  std::ifstream file(shard, std::ios::binary | std::ios::ate);
  if (!file) fail(Code::kInvalidFile, "{}: {}; it holds variable {}: {}", shard, std::strerror(errno), key, kCure);
  const int64_t there = file.tellg();
  if (entry.offset < 0 || entry.size > there || entry.offset > there - entry.size)
    fail(Code::kParseFile, "{} ends before variable {} does: {} bytes at {} are needed; {}", shard, key, entry.size,
         entry.offset, kCure);
  std::vector<std::byte> bytes(static_cast<size_t>(entry.size));
  file.seekg(entry.offset);
  file.read(reinterpret_cast<char*>(bytes.data()), entry.size);
  if (!file) fail(Code::kInvalidFile, "{}: {}; it holds variable {}", shard, std::strerror(errno), key);
  if (masked(crc32c({reinterpret_cast<const char*>(bytes.data()), bytes.size()})) != entry.checksum)
    fail(Code::kParseFile, "{}: the bytes of variable {} are damaged, their checksum is another; {}", shard, key,
         kCure);
  return bytes;
}

Literal Bundle::read(std::string_view key) const {
  const auto at = entries_.find(key);
  require(at != entries_.end(), "{}.index has no variable {}", prefix_.string(), key);
  const Entry& entry = at->second;
  if (entry.sliced)
    fail(Code::kFeatureUnsupported,
         "variable {} is kept in slices (a partitioned variable); save the model without a partitioner", key);
  const auto size = static_cast<int64_t>(entry.type.is_tensor() ? size_of(entry.type.dtype) : 0);
  if (size == 0)
    fail(Code::kFeatureUnsupported, "variable {} is of {}; models keep tensors of numbers", key, to_string(entry.type));
  if (!entry.shape.known()) fail(Code::kParseFile, "variable {} has the shape {}", key, to_string(entry.shape));
  const int64_t count = count_of(*entry.shape.dims);
  if (count > kLargest / size || count * size != entry.size)
    fail(Code::kParseFile, "variable {} of {} {} has {} bytes; {}", key, to_string(entry.type), to_string(entry.shape),
         entry.size, kCure);
  return {entry.type, *entry.shape.dims, std::make_shared<const std::vector<std::byte>>(read_bytes(key, entry)),
          nullptr};
}

}  // namespace npu::graph::tensorflow
