// SPDX-License-Identifier: Apache-2.0
// Data sets on their way: a bounded queue that all handles of one channel share.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "acl/channel/data_item.h"

namespace npu::acl {

class TensorQueue {
 public:
  using Content = std::vector<acltdtDataItem>;

  TensorQueue(std::string name, size_t capacity) : name_(std::move(name)), capacity_(capacity) {}
  TensorQueue(const TensorQueue&) = delete;
  TensorQueue& operator=(const TensorQueue&) = delete;

  /// `timeout` in milliseconds, -1 for none. Raises 207014 when there is no room until then, 500001 when stopped.
  void push(Content content, int64_t timeout);
  /// Raises 207013 when there is nothing until then, 500001 when stopped and empty.
  Content pop(int64_t timeout);
  /// Nobody waits any more, for good.
  void stop();
  void clear();
  size_t size() const;

  /// The queue of this device and name: the one that somebody holds, or a new one.
  static std::shared_ptr<TensorQueue> open(uint32_t device, const std::string& name, size_t capacity);

 private:
  /// Waits until `ready`, for `timeout`; false when it never was.
  template <class Ready>
  bool wait(std::unique_lock<std::mutex>& lock, int64_t timeout, Ready&& ready);
  [[noreturn]] void refuse_stopped(const char* action) const;

  const std::string name_;
  const size_t capacity_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Content> content_;
  bool stopped_ = false;
};

}  // namespace npu::acl
