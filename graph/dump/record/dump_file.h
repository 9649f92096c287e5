// SPDX-License-Identifier: Apache-2.0
// A dump file read back: its header, and where in the file each tensor's elements are.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/dump/record/dump_data.h"
#include "graph/dump/record/mapped_file.h"

namespace npu::graph::record {

/// The elements of what a header names, in its order.
struct Blobs {
  std::vector<std::span<const std::byte>> inputs, outputs, buffers, workspaces;
};

/// A whole file's bytes taken apart. Raises 100006 with what is wrong with them and what to do; `name` is the file's.
struct Parsed {
  DumpData data;
  Blobs blobs;
};
Parsed parse_dump(std::span<const std::byte> file, std::string_view name);

class DumpFile {
 public:
  /// Raises 100003 for a file that cannot be read, 100006 for one that is damaged or was not written to its end.
  explicit DumpFile(const std::string& path);

  const DumpData& data() const { return parsed_.data; }
  /// Parts of the file, which live as long as this object.
  const Blobs& blobs() const { return parsed_.blobs; }

 private:
  MappedFile file_;
  Parsed parsed_;
};

}  // namespace npu::graph::record
