// SPDX-License-Identifier: Apache-2.0
// One growing sequence of files: what a process logs of one kind, on the host's side or that of one device. A file that
// is full is followed by the next one, and the oldest goes. Only the owner of the log's lock uses it.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/log/crash.h"
#include "base/log/folder.h"

namespace npu {

class LogFile {
 public:
  /// Nothing is created before the first line. Lives for ever, as its buffer does.
  LogFile(LogFolder& folder, std::string_view kind, int device);

  /// `at_once` writes it, and what waits before it, to the file; else it waits in the buffer for flush(). A line that
  /// cannot be written is lost, and counted.
  void append(std::string_view line, bool at_once);
  void flush();
  /// Lines lost before the last one that was written; 0 afterwards, and while nothing can be written.
  uint64_t take_lost();
  bool waits() const { return buffer_.used.load(std::memory_order_relaxed) > 0; }
  int device() const { return device_; }
  /// For a forked child: what waits is its parent's, and so is the file.
  void forget();

 private:
  bool has_room(size_t bytes);
  void open_next();
  int open_new(std::filesystem::path& path) const;
  void write(std::string_view text, uint64_t lines);
  void lose(uint64_t lines, const std::filesystem::path& file, int error);

  LogFolder& folder_;
  const std::filesystem::path place_;
  const int device_;
  LogBuffer& buffer_;
  uint64_t lines_waiting_ = 0;
  uint64_t lost_ = 0;
  bool works_ = true;
  std::chrono::steady_clock::time_point failed_{};
  std::deque<std::filesystem::path> files_;
};

}  // namespace npu
