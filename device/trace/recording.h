// SPDX-License-Identifier: Apache-2.0
// The files of one recording. Not safe to use from several threads at once.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "device/trace/piece.h"
#include "device/trace/record.h"

namespace npu::device::trace {

/// The file of texts. All functions raise 100000 when it cannot be written.
class TextFile {
 public:
  explicit TextFile(const std::filesystem::path& path);
  ~TextFile();
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  void add(std::string_view text);

 private:
  [[noreturn]] void refuse() const;

  const std::filesystem::path path_;
  const int file_;
};

class Recording {
 public:
  /// Below `folder`, with the texts that have numbers already.
  explicit Recording(const std::string& folder);

  TextFile& texts() { return texts_; }
  PieceFile& file_of(const TaskRecord& record);
  PieceFile& file_of(const CallRecord&) { return calls_; }
  PieceFile& file_of(const MarkRecord&) { return marks_; }
  PieceFile& file_of(const MemoryRecord&) { return memory_; }
  PieceFile& file_of(const GraphRecord&) { return graphs_; }
  PieceFile& file_of(const GroupRecord&) { return groups_; }
  PieceFile& file_of(const LinkRecord&) { return links_; }

 private:
  const std::filesystem::path folder_;
  TextFile texts_;
  PieceFile calls_, marks_, memory_, graphs_, groups_, links_;
  std::map<int, std::unique_ptr<PieceFile>> tasks_;
};

}  // namespace npu::device::trace
