// SPDX-License-Identifier: Apache-2.0
// Tensors written to files by own threads, while TensorFlow goes on. Nothing is copied: a tensor is held until it is
// written. Where more waits than memory should hold, those who compute wait. A file has its name only when complete.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "adapters/tensorflow/golden/file_name.h"

namespace npu::tensorflow::golden {

struct File {
  std::string folder;
  FileName name;
  std::string head;
  std::shared_ptr<const void> elements;
  size_t bytes = 0;
};

class Writer {
 public:
  /// `tell` hears, once, why a file could not be written; nothing is written after it.
  explicit Writer(std::function<void(const std::string& reason)> tell) : tell_(std::move(tell)) {}
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void put(File file);
  /// Returns when all that was put is written, or given up.
  void drain();
  bool failed() const;

 private:
  static constexpr size_t kMostBytes = size_t{512} << 20;  // that wait; one file may be larger
  void start();
  void work();
  void give_up(std::unique_lock<std::mutex>& lock, const std::string& reason);

  const std::function<void(const std::string& reason)> tell_;
  mutable std::mutex mutex_;
  std::condition_variable more_, less_;
  std::deque<File> waiting_;
  size_t bytes_ = 0, busy_ = 0;
  bool closing_ = false, failed_ = false;
  std::vector<std::thread> threads_;  ///< from the first file on
};

}  // namespace npu::tensorflow::golden
