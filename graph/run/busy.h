// SPDX-License-Identifier: Apache-2.0
// The time of graphs counts as time that their device is at work, for who looks on from outside (`npu-smi info`): nodes
// run in the thread that asked for the graph, and are no tasks of a stream, which count themselves.
#pragma once

#include <chrono>

namespace npu::graph {

/// This thread runs a graph on `device`, until the end of the scope. Within another one it means nothing.
class Busy {
 public:
  explicit Busy(int device);
  ~Busy();
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

  /// What is computed on the host meanwhile does not count.
  class Pause {
   public:
    Pause();
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    Busy* const busy_;
  };

 private:
  using Clock = std::chrono::steady_clock;
  void count();

  const int device_;
  Busy* const outer_;
  Clock::time_point since_;
};

}  // namespace npu::graph
