// SPDX-License-Identifier: Apache-2.0
#include "device/queue/recording.h"

#include <utility>

#include "base/error.h"
#include "device/queue/signal.h"

namespace npu::device {

size_t Recording::add(Task&& task) {
  tasks_.push_back(std::move(task));
  return tasks_.size() - 1;
}

void Recording::run() {
  const std::lock_guard lock(running_);
  aborted_ = false;
  active_ = true;
  const AbortableRun abortable(aborted_);
  const struct Active {
    std::atomic<bool>& flag;
    ~Active() { flag = false; }
  } active{active_};
  for (size_t i = 0; i < tasks_.size(); ++i) {
    try {
      if (aborted_) fail(Code::kFailure, "the run was aborted before it");
      run_task(i);
    } catch (const Error& error) {
      throw Error(error.code(),
                  fmt::format("task {} of {} of graph {}, {}: {}; the tasks behind it did not run", i + 1,
                              tasks_.size(), id, tasks_[i].name, error.message()),
                  error.place());
    }
  }
}

void Recording::run_task(size_t place) {
  if (place >= replaceable_.size() || replaceable_[place] == 0) return tasks_[place].body();
  const std::lock_guard lock(replacing_);
  tasks_[place].body();
}

void Recording::abort() {
  if (active_) aborted_ = true;
}

Task Recording::summary() const {
  Task all;
  const std::lock_guard lock(replacing_);
  for (const Task& task : tasks_) {
    all.cost_ns += task.cost_ns;
    all.flags |= task.flags;
  }
  return all;
}

void Recording::set_replaceable(const std::vector<size_t>& places) {
  for (const size_t place : places) {
    if (place >= replaceable_.size()) replaceable_.resize(place + 1);
    replaceable_[place] = 1;
  }
}

// The name stays: it is the same text, and readers take no lock.
void Recording::replace(const std::vector<size_t>& places, std::vector<Task>&& tasks) {
  const std::lock_guard lock(replacing_);
  for (size_t i = 0; i < places.size(); ++i) {
    Task& task = tasks_[places[i]];
    task.cost_ns = tasks[i].cost_ns;
    task.body = std::move(tasks[i].body);
  }
}

std::string Recording::name() const {
  const std::lock_guard lock(replacing_);
  return name_;
}

void Recording::set_name(std::string name) {
  const std::lock_guard lock(replacing_);
  name_ = std::move(name);
}

}  // namespace npu::device
