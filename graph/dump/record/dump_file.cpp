// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/record/dump_file.h"

#include "base/error.h"

namespace npu::graph::record {
namespace {

constexpr size_t kLengthBytes = 8;
using Bytes = std::span<const std::byte>;

uint64_t header_length(Bytes file, std::string_view name) {
  if (file.size() <= kLengthBytes)
    fail(Code::kParseFile, "{} has {} bytes, a dump file more than {}: it was not written; dump again", name,
         file.size(), kLengthBytes);
  uint64_t length = 0;
  for (size_t i = kLengthBytes; i-- > 0;) length = length << 8 | std::to_integer<uint64_t>(file[i]);
  if (length == 0 || length > file.size() - kLengthBytes)
    fail(Code::kParseFile,
         "{}: its header would be {} bytes long in a file of {}: this is no dump file, or a part of one", name, length,
         file.size());
  return length;
}

DumpData header_of(Bytes file, uint64_t length, std::string_view name) {
  const Bytes header = file.subspan(kLengthBytes, length);
  try {
    return decode_header({reinterpret_cast<const char*>(header.data()), header.size()});
  } catch (const Error& reason) {
    fail(Code::kParseFile, "{}: {}: this is no dump file, or it was changed after it was written", name,
         reason.message());
  }
}

/// Cuts the elements off the rest of the file, tensor after tensor.
class Cutter {
 public:
  Cutter(Bytes rest, std::string_view name) : rest_(rest), all_(rest.size()), name_(name) {}

  template <class Owner>
  std::vector<Bytes> cut(const std::vector<Owner>& owners, std::string_view what) {
    std::vector<Bytes> found;
    for (const Owner& owner : owners) found.push_back(next(owner.size, what, found.size()));
    return found;
  }

 private:
  Bytes next(uint64_t size, std::string_view what, size_t index) {
    if (size > rest_.size())
      fail(Code::kParseFile,
           "{}: {} {} has {} bytes, and {} of the {} after the header are left: the file was not written to its end; "
           "dump again",
           name_, what, index, size, rest_.size(), all_);
    const Bytes found = rest_.first(size);
    rest_ = rest_.subspan(size);
    return found;
  }
  Bytes rest_;
  size_t all_;
  std::string_view name_;
};

}  // namespace

Parsed parse_dump(Bytes file, std::string_view name) {
  const uint64_t length = header_length(file, name);
  Parsed found{header_of(file, length, name), {}};
  Cutter cutter(file.subspan(kLengthBytes + length), name);
  found.blobs.inputs = cutter.cut(found.data.inputs, "input");
  found.blobs.outputs = cutter.cut(found.data.outputs, "output");
  found.blobs.buffers = cutter.cut(found.data.buffers, "buffer");
  found.blobs.workspaces = cutter.cut(found.data.workspaces, "workspace");
  return found;
}

DumpFile::DumpFile(const std::string& path) : file_(path), parsed_(parse_dump(file_.bytes(), path)) {}

}  // namespace npu::graph::record
