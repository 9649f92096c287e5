// SPDX-License-Identifier: Apache-2.0
#include "acl/profiling/activity_buffer.h"

#include <cstring>
#include <thread>
#include <utility>

namespace npu::acl {
namespace {

thread_local bool gives_back = false;  // a client's function may come back to us

}  // namespace

void ActivityBuffers::use(msptiBuffersCallbackRequestFunc request, msptiBuffersCallbackCompleteFunc complete) {
  flush();  // what the client before was to have
  const std::lock_guard lock(mutex_);
  request_ = request;
  complete_ = complete;
}

bool ActivityBuffers::usable() {
  const std::lock_guard lock(mutex_);
  return request_ != nullptr;
}

bool ActivityBuffers::put(const void* record, size_t bytes) {
  if (current_.place == nullptr || !current_.holds(bytes)) return false;
  std::memcpy(current_.place + current_.used, record, bytes);
  current_.used += bytes;
  ++current_.records;
  return true;
}

void ActivityBuffers::retire() {
  if (current_.place == nullptr) return;
  full_.push_back(std::exchange(current_, {}));
  if (!served_) std::thread([this] { serve(); }).detach();  // lives as long as the process, as this object does
  served_ = true;
  changed_.notify_one();
}

void ActivityBuffers::add(const void* record, size_t bytes) {
  std::unique_lock lock(mutex_);
  if (put(record, bytes) || request_ == nullptr) return;
  const auto request = request_;
  lock.unlock();
  Buffer fresh;
  request(&fresh.place, &fresh.size, &fresh.most);
  lock.lock();
  // Another thread may have brought one meanwhile: then this one waits its turn as the current.
  if (fresh.place != nullptr) {
    retire();
    current_ = fresh;
  }
  if (!put(record, bytes)) ++dropped_;
}

bool ActivityBuffers::deliver_one() {
  std::unique_lock lock(mutex_);
  if (full_.empty()) return false;
  const Buffer buffer = full_.front();
  full_.pop_front();
  const auto complete = complete_;
  const auto its = under_way_.insert(number_++).first;
  lock.unlock();
  const bool before = std::exchange(gives_back, true);
  complete(buffer.place, buffer.size, buffer.used);
  gives_back = before;
  lock.lock();
  under_way_.erase(its);
  given_back_.notify_all();
  return true;
}

void ActivityBuffers::serve() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return !full_.empty(); });
    }
    while (deliver_one()) {
    }
  }
}

void ActivityBuffers::flush() {
  {
    const std::lock_guard lock(mutex_);
    if (current_.place != nullptr) full_.push_back(std::exchange(current_, {}));
  }
  while (deliver_one()) {
  }
  if (gives_back) return;
  std::unique_lock lock(mutex_);
  given_back_.wait(lock, [&, end = number_] { return under_way_.empty() || *under_way_.begin() >= end; });
}

size_t ActivityBuffers::take_dropped() {
  const std::lock_guard lock(mutex_);
  return std::exchange(dropped_, 0);
}

}  // namespace npu::acl
