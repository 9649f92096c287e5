// SPDX-License-Identifier: Apache-2.0
#include "acl/channel/queue.h"

#include <chrono>
#include <map>

#include "base/error.h"

namespace npu::acl {

template <class Ready>
bool TensorQueue::wait(std::unique_lock<std::mutex>& lock, int64_t timeout, Ready&& ready) {
  if (timeout < 0) {
    changed_.wait(lock, ready);
    return true;
  }
  return changed_.wait_for(lock, std::chrono::milliseconds(timeout), ready);
}

void TensorQueue::refuse_stopped(const char* action) const {
  fail(Code::kFailure, "channel {} was stopped, nothing is {} any more; destroy it and create it anew", name_, action);
}

void TensorQueue::push(Content content, int64_t timeout) {
  std::unique_lock lock(mutex_);
  if (!wait(lock, timeout, [this] { return stopped_ || content_.size() < capacity_; }))
    fail(Code::kQueueFull, "channel {} is full: {} data sets wait in it; receive some, or wait longer than {} ms",
         name_, capacity_, timeout);
  if (stopped_) refuse_stopped("sent");
  content_.push_back(std::move(content));
  changed_.notify_all();
}

TensorQueue::Content TensorQueue::pop(int64_t timeout) {
  std::unique_lock lock(mutex_);
  if (!wait(lock, timeout, [this] { return stopped_ || !content_.empty(); }))
    fail(Code::kQueueEmpty, "channel {} is empty; send something, or wait longer than {} ms", name_, timeout);
  if (content_.empty()) refuse_stopped("received");
  Content first = std::move(content_.front());
  content_.pop_front();
  changed_.notify_all();
  return first;
}

void TensorQueue::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

void TensorQueue::clear() {
  std::deque<Content> dropped;  // ends outside of the lock
  const std::lock_guard lock(mutex_);
  dropped.swap(content_);
  changed_.notify_all();
}

size_t TensorQueue::size() const {
  const std::lock_guard lock(mutex_);
  return content_.size();
}

std::shared_ptr<TensorQueue> TensorQueue::open(uint32_t device, const std::string& name, size_t capacity) {
  struct Names {
    std::mutex mutex;
    std::map<std::pair<uint32_t, std::string>, std::weak_ptr<TensorQueue>> queues;
  };
  static Names& names = *new Names;  // never destroyed: handles may be opened while the process ends
  const std::lock_guard lock(names.mutex);
  std::erase_if(names.queues, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<TensorQueue>& place = names.queues[{device, name}];
  std::shared_ptr<TensorQueue> queue = place.lock();
  if (queue == nullptr) place = queue = std::make_shared<TensorQueue>(name, capacity);
  return queue;
}

}  // namespace npu::acl
