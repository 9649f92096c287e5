// SPDX-License-Identifier: Apache-2.0
// Memory that is freed while queued work may still touch it. Nobody waits: the freeing thread may be the very one that
// the work waits for (a callback).
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <utility>

#include "device/queue/progress.h"

namespace npu::device {

/// Ranges whose return waits for the work that was queued when they were retired. Their number is bounded by the queues
/// of the streams: each needs work that was launched before it and has not run.
class RetiredMemory {
 public:
  /// `give_back` is called at once when nothing is queued, otherwise by the first later call that finds the work done.
  void retire(std::function<void()> give_back) {
    reclaim();
    Fence fence = Fence::now();
    if (fence.passed()) return give_back();
    const std::lock_guard lock(mutex_);
    waiting_.push_back({std::move(fence), std::move(give_back)});
  }
  /// Gives back what is no longer in use.
  void reclaim() {
    const std::lock_guard lock(mutex_);
    std::erase_if(waiting_, [](Waiting& waiting) {
      if (!waiting.fence.passed()) return false;
      waiting.give_back();
      return true;
    });
  }

 private:
  struct Waiting {
    Fence fence;
    std::function<void()> give_back;
  };
  std::mutex mutex_;
  std::deque<Waiting> waiting_;
};

}  // namespace npu::device
