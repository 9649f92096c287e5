// SPDX-License-Identifier: Apache-2.0
// Who takes the files of dumps in place of the disk: part by part, in the order of their bytes, file behind file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "graph/dump/tensor/file_content.h"

namespace npu::graph {

inline constexpr int64_t kAppended = -1;
inline constexpr size_t kMostPartBytes = size_t{1} << 20;

struct FilePart {
  const std::string& path;           ///< the file that the disk would have had
  std::span<const std::byte> bytes;  ///< at most kMostPartBytes
  int64_t offset;                    ///< in the file; kAppended for a line that follows what the file holds
  bool last;                         ///< the file is complete, or the line is
};

/// Called by one thread at a time. What it raises ends the dump.
using FileReceiver = std::function<void(const FilePart&)>;

/// From now on `receiver` has what the disk would have; none gives it to the disk again. When this returns, the one
/// before is not called any more. Not to be called from inside of a receiver.
void receive_files(FileReceiver receiver);
/// Whether somebody receives.
bool files_are_received();
/// Whether the calling thread is inside of a receiver.
bool inside_receiver();

/// False, and nothing done, where nobody receives.
bool hand_over(const FileContent& content);

}  // namespace npu::graph
