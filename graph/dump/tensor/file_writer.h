// SPDX-License-Identifier: Apache-2.0
// Files written behind the back of those who compute: they hand over what is to be written and go on; where more waits
// than memory should hold, they wait. A file is there under its name only when it is complete, and of one that fails
// nothing stays.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "graph/dump/tensor/file_content.h"

namespace npu::graph {

class FileWriter {
 public:
  /// `fail` hears, once, of the first file that cannot be written; nothing is written after it.
  explicit FileWriter(std::function<void(const std::string& text)> fail) : fail_(std::move(fail)) {}
  /// Writes what waits.
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  void put(FileContent content);
  /// Returns when all that was put is written, or given up.
  void drain();
  bool failed() const;

 private:
  static constexpr size_t kMostBytes = size_t{256} << 20;  // that wait; one file may be larger
  void work();
  void write(const FileContent& content);

  const std::function<void(const std::string& text)> fail_;
  mutable std::mutex mutex_;
  std::condition_variable more_, less_;
  std::deque<FileContent> waiting_;
  size_t bytes_ = 0;
  bool writing_ = false, closing_ = false, failed_ = false;
  std::thread thread_;  ///< from the first file on
};

}  // namespace npu::graph
