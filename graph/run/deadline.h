// SPDX-License-Identifier: Apache-2.0
// The time that a run may take: nodes run in the thread that asks for them, so a client that limits its waits for
// streams (stream_sync_timeout) limits this. A node is not interrupted; the run fails when the one that goes beyond the
// limit is done.
#pragma once

#include <chrono>
#include <string>

#include "graph/plan/plan.h"

namespace npu::graph {

/// The limit of the run that this thread is in. Functions that its nodes run belong to it.
class Deadline {
 public:
  /// Within another one, or without a limit of the process, this one means nothing.
  explicit Deadline(const std::string& graph);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  /// Of this thread, or null.
  static const Deadline* current() { return current_; }
  /// Raises 507046 with the node of `step`, which is done, when the limit is over.
  void check(int device, const Step& step) const;

 private:
  using Clock = std::chrono::steady_clock;

  const std::string& graph_;
  int64_t milliseconds_ = -1;
  Clock::time_point end_;
  inline static thread_local constinit const Deadline* current_ = nullptr;
};

}  // namespace npu::graph
