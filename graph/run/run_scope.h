// SPDX-License-Identifier: Apache-2.0
// Which graph runs, and which step of it: what observers are told beside the node. Kept only while somebody looks on.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace npu::graph {

/// The run of a function that a client asked for. Functions that its nodes run belong to it.
class RunScope {
 public:
  /// `next_step` counts the steps of the graph over its runs. Within another scope this one means nothing.
  RunScope(const std::string& graph, std::atomic<int64_t>& next_step);
  ~RunScope();
  RunScope(const RunScope&) = delete;
  RunScope& operator=(const RunScope&) = delete;

  /// Of this thread, or null.
  static RunScope* current() { return current_; }
  const std::string& graph() const { return graph_; }
  int64_t step() const { return step_; }

  /// The turns of a loop that trains: each is a step. Loops inside such a loop count nothing.
  class Loop {
   public:
    explicit Loop(bool trains);
    ~Loop();
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;
    void turn();

   private:
    RunScope* scope_;  ///< null where turns are no steps
    bool first_ = true;
  };

 private:
  const std::string& graph_;
  std::atomic<int64_t>& next_step_;
  int64_t step_ = 0;
  bool in_loop_ = false;
  const bool outermost_;
  inline static thread_local constinit RunScope* current_ = nullptr;
};

}  // namespace npu::graph
