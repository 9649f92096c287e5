// SPDX-License-Identifier: Apache-2.0
// The tasks of a graph, and their runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "device/queue/task.h"

namespace npu::device {

/// Runs share it, so the graph's handle may end before they do. Tasks are added while a capture records, under the lock
/// of the captures; after that only `replace` changes them.
class Recording {
 public:
  Recording(uint32_t its_id, int its_device) : id(its_id), device(its_device) {}

  const uint32_t id;
  const int device;

  /// Adds a task and returns its place.
  size_t add(Task&& task);
  /// Runs the tasks one behind the other. Runs never overlap, as a task has one state.
  void run();
  /// Ends the run that goes on, before its next task; no effect without one.
  void abort();
  /// One task that stands for a run: its cost and flags are those of all tasks together.
  Task summary() const;

  /// Marks places whose tasks may be replaced.
  void set_replaceable(const std::vector<size_t>& places);
  /// Replaces tasks, also between two tasks of a run.
  void replace(const std::vector<size_t>& places, std::vector<Task>&& tasks);

  size_t size() const { return tasks_.size(); }
  const char* task_name(size_t place) const { return tasks_[place].name; }

  std::string name() const;
  void set_name(std::string name);

 private:
  void run_task(size_t place);

  std::vector<Task> tasks_;
  std::vector<char> replaceable_;  // by place; shorter than tasks_ when the last ones are not
  std::mutex running_;             // held for a whole run
  mutable std::mutex replacing_;   // held while a replaceable task runs or is replaced, and for the name
  std::atomic<bool> active_{false};
  std::atomic<bool> aborted_{false};
  std::string name_;
};

}  // namespace npu::device
