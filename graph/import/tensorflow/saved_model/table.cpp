// SPDX-License-Identifier: Apache-2.0
#include "graph/import/tensorflow/saved_model/table.h"

#include <cstdint>
#include <cstring>

#include "base/error.h"
#include "graph/import/tensorflow/saved_model/crc32c.h"

namespace npu::graph::tensorflow {
namespace {

constexpr uint64_t kMagic = 0xDB4775248B80FB57;
constexpr size_t kFooter = 48;  // two handles, filled up with zeros, and the magic number
constexpr size_t kTrailer = 5;  // of a block: how it is compressed, its checksum
constexpr char kPlain = 0, kSnappy = 1;

template <class T>
T number_at(std::string_view bytes, size_t at) {
  T out;
  std::memcpy(&out, bytes.data() + at, sizeof out);
  return out;
}

/// Where a block lies.
struct Handle {
  uint64_t offset = 0, size = 0;
};

class TableReader {
 public:
  TableReader(std::string_view file, std::string_view name) : file_(file), name_(name) {}

  Table read() {
    if (file_.size() < kFooter || number_at<uint64_t>(file_, file_.size() - sizeof kMagic) != kMagic)
      damaged("it does not end as a table does");
    std::string_view footer = file_.substr(file_.size() - kFooter, kFooter - sizeof kMagic);
    take_handle(footer);  // of what tells about the table; no reader needs it
    Table out;
    each_entry(block(take_handle(footer)), [&](const std::string&, std::string_view where) {
      each_entry(block(take_handle(where)), [&](const std::string& key, std::string_view value) {
        if (!out.emplace(key, value).second) damaged(fmt::format("'{}' stands in it twice", key));
      });
    });
    return out;
  }

 private:
  [[noreturn]] void damaged(std::string_view reason) const {
    fail(Code::kParseFile, "{} is cut off or damaged: {}; copy the model again", name_, reason);
  }

  uint64_t take_number(std::string_view& from) const {
    uint64_t out = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (from.empty()) damaged("a number is not complete");
      const auto byte = static_cast<unsigned char>(from.front());
      from.remove_prefix(1);
      out |= uint64_t{byte & 127U} << shift;
      if (byte < 128) return out;
    }
    damaged("a number has too many bytes");
  }
  Handle take_handle(std::string_view& from) const {
    Handle out;
    out.offset = take_number(from), out.size = take_number(from);
    return out;
  }
  std::string_view take_bytes(std::string_view& from, uint64_t size) const {
    if (size > from.size()) damaged("an entry is longer than its block");
    const std::string_view out = from.substr(0, size);
    from.remove_prefix(size);
    return out;
  }

  std::string_view block(Handle at) const {
    if (at.size > file_.size() || file_.size() - at.size < kTrailer || at.offset > file_.size() - at.size - kTrailer)
      damaged("a block reaches over its end");
    const std::string_view content = file_.substr(at.offset, at.size);
    const char compressed = file_[at.offset + at.size];
    if (number_at<uint32_t>(file_, at.offset + at.size + 1) != masked(crc32c(file_.substr(at.offset, at.size + 1))))
      damaged(fmt::format("the checksum of the block at {} is another", at.offset));
    if (compressed == kPlain) return content;
    fail(Code::kFeatureUnsupported,
         "{} has blocks compressed {}; TensorFlow's savers write plain ones: load the model there and save it again",
         name_, compressed == kSnappy ? "by snappy" : fmt::format("in way {}", compressed));
  }

  /// Keys share their beginnings with the key before; where they begin anew stands at the end, with how often.
  template <class Visit>
  void each_entry(std::string_view block, Visit&& visit) const {
    constexpr size_t kWord = sizeof(uint32_t);
    if (block.size() < kWord) damaged("a block is empty");
    const uint64_t restarts = number_at<uint32_t>(block, block.size() - kWord);
    if (restarts > block.size() / kWord - 1) damaged("a block has no room for its entries");
    std::string_view entries = block.substr(0, block.size() - (restarts + 1) * kWord);
    std::string key;
    while (!entries.empty()) {
      const uint64_t shared = take_number(entries), own = take_number(entries), size = take_number(entries);
      if (shared > key.size()) damaged("a key shares more than the key before it has");
      key.resize(shared);
      key += take_bytes(entries, own);
      visit(key, take_bytes(entries, size));
    }
  }

  std::string_view file_, name_;
};

}  // namespace

Table read_table(std::string_view file, std::string_view name) { return TableReader(file, name).read(); }

}  // namespace npu::graph::tensorflow
