// SPDX-License-Identifier: Apache-2.0
// How far each stream has come, for those who must know whether queued work may still touch something (memory/).
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

namespace npu::device {

/// Task counters of one stream object. They only grow, across reuses of the object. Never destroyed.
struct Progress {
  std::atomic<uint64_t> submitted{0};
  std::atomic<uint64_t> completed{0};
  bool idle() const { return completed.load(std::memory_order_acquire) == submitted.load(std::memory_order_acquire); }
};

/// A new counter pair that every later fence looks at.
Progress& new_progress();

/// The work that was queued, on all streams of the process, when the fence was taken.
class Fence {
 public:
  static Fence now();
  /// True when all of it has run. Cheap, and once true it stays true.
  bool passed();
  /// Waits for it, at most `timeout_ms`; false on timeout.
  bool wait(int64_t timeout_ms);

 private:
  std::vector<std::pair<const Progress*, uint64_t>> targets_;
};

}  // namespace npu::device
