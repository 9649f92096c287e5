// SPDX-License-Identifier: Apache-2.0
// Where records go while a process is profiled. Each thread writes into a piece of the file that is its own, without a
// lock; a lock is taken for a new piece, about once in a thousand records, and for texts.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "device/trace/record.h"

namespace npu::device::trace {

namespace detail {
extern std::atomic<uint32_t> running;  // the number of what runs now, from 1; 0: nothing
extern std::atomic<bool> calls;        // of the host are wanted too
}  // namespace detail
/// Whether records are wanted. A forked child writes none.
inline bool on() { return detail::running.load(std::memory_order_relaxed) != 0; }

/// Nanoseconds of CLOCK_MONOTONIC_RAW, the clock of all records.
int64_t now();

/// Begins to write below `folder`, which exists; of calls only with `calls`. `fail` hears, once, why records could not
/// be written (a full disk): that ends the recording, and nothing else. Ends what was running.
void start(const std::string& folder, bool calls, std::function<void(const std::string&)> fail);
/// What threads are about to write is still written.
void stop();

/// The number of `text` in the records; 0 of "" and when nothing is recorded.
uint32_t number_of(std::string_view text);
void add(const TaskRecord& record);
void add(const CallRecord& record);

/// That this thread queues a task now.
Launch launch_here();

/// A task that runs in this thread. Written down when it has ended, unless somebody else did: who knows the operator.
class TaskScope {
 public:
  explicit TaskScope(const Launch& launch);
  ~TaskScope();
  TaskScope(const TaskScope&) = delete;
  TaskScope& operator=(const TaskScope&) = delete;

  void finish(int device, int32_t stream, uint64_t number, const char* name);

  /// What runs in this thread; null outside of tasks, and of those that began before the recording.
  static TaskScope* current();
  const Launch& launch() const { return launch_; }
  void told() { told_ = true; }

 private:
  const Launch launch_;
  const int64_t start_;
  TaskScope* const outer_;
  bool told_ = false;
};

/// A call of the client, from here to the end of the scope.
class CallScope {
 public:
  CallScope(const char* name, Level level)
      : name_(name), level_(level), start_(detail::calls.load(std::memory_order_relaxed) ? now() : 0) {}
  ~CallScope() {
    if (start_ != 0) [[unlikely]]
      finish();
  }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  void finish() const;

  const char* const name_;
  const Level level_;
  const int64_t start_;
};

}  // namespace npu::device::trace
