// SPDX-License-Identifier: Apache-2.0
#include "device/queue/progress.h"

#include <chrono>
#include <deque>
#include <mutex>
#include <thread>

namespace npu::device {
namespace {

struct Registry {
  std::mutex mutex;
  std::deque<Progress> all;
};

Registry& registry() {
  static Registry& instance = *new Registry;
  return instance;
}

}  // namespace

Progress& new_progress() {
  std::lock_guard lock(registry().mutex);
  return registry().all.emplace_back();
}

Fence Fence::now() {
  Fence fence;
  std::lock_guard lock(registry().mutex);
  for (const Progress& progress : registry().all) {
    if (!progress.idle()) fence.targets_.emplace_back(&progress, progress.submitted.load(std::memory_order_acquire));
  }
  return fence;
}

bool Fence::passed() {
  while (!targets_.empty()) {
    const auto& [progress, target] = targets_.back();
    if (progress->completed.load(std::memory_order_acquire) < target) return false;
    targets_.pop_back();
  }
  return true;
}

bool Fence::wait(int64_t timeout_ms) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  while (!passed()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return true;
}

}  // namespace npu::device
