// SPDX-License-Identifier: Apache-2.0
// In-order queues of work. A stream gets a thread of its own at the first task that may not run in the caller's thread,
// so a waiting stream never blocks another. A kernel below kInlineBound runs at once in the launching thread when the
// stream is idle (`ANYNPU_INLINE=0` turns this off); the launching thread then holds the stream's token and no lock. So
// does a thread that waits for the stream and meanwhile runs short tasks and collectives itself.
//
// A queue is bounded (ANYNPU_QUEUE_TASKS, ANYNPU_QUEUE_MS): a launch waits while the stream has work for that long. So
// memory does not grow with launches that are faster than their kernels, and who waits for the last of them, deaf to
// signals meanwhile, waits no longer than that. Tasks that launch others never wait, nor does anybody where what the
// stream waits for may be launched by that very thread: see wait_for_room.
//
// A task that throws leaves its code and text on the stream. A synchronisation of the stream or of the device raises
// and clears them, in the thread that asks; until then a query raises them each time, and later tasks run on
// (kContinue) or are dropped (kStop; launching then raises the error, too), but nothing is shown to anybody
// (kTaskShows). Events recorded meanwhile carry the failure (event.h): a stream that waits for one takes it over, drops
// all later work and raises it in the same way. Every stream tells it for itself: that one has told it silences no
// other.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/setting.h"
#include "device/queue/failure.h"
#include "device/queue/progress.h"
#include "device/queue/task.h"
#include "device/queue/wait_limit.h"

namespace npu::device {

/// Kernels expected to take longer (nanoseconds) go to the stream's thread, so that the caller can queue ahead; for
/// shorter ones waking that thread would cost more than the kernel. An operator without an estimate counts as longer.
inline constexpr int64_t kInlineBound = 20'000;

enum class FailureMode : uint64_t { kContinue = 0, kStop = 1 };

class Stream {
 public:
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Queues `task`, or runs it now (see above). With ASCEND_LAUNCH_BLOCKING=1 a kernel or copy has run on return, and
  /// its error is raised here. Raises the stream's error in kStop mode.
  void launch(Task&& task);

  /// Waits for all work launched before. Raises the error of a failed task; 507046 after `limit`, with the task that
  /// runs.
  void synchronize(WaitLimit limit = -1);
  /// True when all work has run. Raises the error of a failed task, which stays.
  bool query() const;
  /// Raises the error of a failed task, if there is one, and leaves it to the next synchronisation.
  void report() const;
  /// The failure that no synchronisation has told yet; null for none.
  FailurePtr failure() const;
  /// From a task of this stream: what it depends on has failed. Later work is dropped until that is told.
  void take_over(FailurePtr failure);

  /// The stream whose task this thread runs, or null.
  static const Stream* running();
  /// From a task of this stream: its number, counted from 0, as a failure names it.
  uint64_t running_number() const { return progress_->completed.load(std::memory_order_relaxed); }

  int32_t id() const { return id_.load(std::memory_order_relaxed); }  ///< small number, unique in the process
  int device() const { return device_.load(std::memory_order_relaxed); }
  uint32_t priority() const { return priority_; }  ///< 0 (high) to 7; recorded, not used to schedule
  uint32_t flags() const { return flags_; }
  void* handle() const { return handle_; }
  FailureMode failure_mode() const { return failure_mode_.load(std::memory_order_relaxed); }
  void set_failure_mode(FailureMode mode) { failure_mode_.store(mode, std::memory_order_relaxed); }
  bool overflow_switch() const { return overflow_switch_.load(std::memory_order_relaxed); }
  void set_overflow_switch(bool on) { overflow_switch_.store(on, std::memory_order_relaxed); }
  /// "; it executes MatMulV2", or that nothing is executed, for error texts.
  std::string executing() const;
  /// True once a forced destroy has begun: a waiting task should give up.
  bool aborting() const { return aborting_.load(std::memory_order_relaxed); }

 private:
  friend struct StreamAccess;  // stream_table.cpp: opens and closes streams

  /// What became of the tasks so far.
  enum class Condition { kSound, kFailed, kSpoiled };  // a task failed; what later ones need has failed

  bool runs_inline(const Task& task) const;
  static bool runs_in_waiter(const Task& task);
  void run_queued(std::unique_lock<std::mutex>& lock, uint64_t target);
  bool drops(const Task& task) const;
  void wait(WaitLimit limit);
  FailurePtr clear(const FailurePtr& only);
  void raise_when_stopped();
  void run(std::unique_lock<std::mutex>& lock, Task& task, bool at_once);
  void pass_on();
  void enqueue(Task&& task);
  bool is_full(double share) const;
  bool has_room() const;
  void wait_for_room(std::unique_lock<std::mutex>& lock, uint32_t flags);
  void note_pace(const Task& task, int64_t spent_ns);
  void push(Task&& task);
  Task pop();
  void execute(Task& task, bool at_once);
  void keep_error(const Task& task);
  void finish_one();
  void work();
  void refuse_own_task(const char* action) const;

  static constexpr uint64_t kNobody = UINT64_MAX;
  static std::atomic<int32_t> untold_failures_;  // streams that keep one

  Progress* progress_ = nullptr;  // outlives every use of this object
  mutable std::mutex mutex_;
  std::condition_variable work_;  // the stream's own thread waits here
  std::condition_variable done_;  // synchronising threads wait here
  uint64_t awaited_ = kNobody;    // the first number of completed tasks that one of them waits for
  std::condition_variable room_;  // threads whose launch waits for room in the queue
  int waiting_for_room_ = 0;
  bool runs_waiting_ = false;       // the task that runs may wait for others
  int64_t queued_ns_ = 0;           // what the queued tasks are expected to take
  std::atomic<float> spent_{0};     // of late, per task: what they took, and
  std::atomic<float> expected_{0};  // what they were expected to take
  bool token_ = false;              // somebody runs a task of this stream
  bool has_thread_ = false;
  bool closing_ = false;
  std::vector<Task> ring_;  // circular; its size is a power of two
  size_t head_ = 0;
  size_t queued_ = 0;

  std::atomic<Condition> condition_{Condition::kSound};
  FailurePtr failure_;  // null exactly when sound
  FailurePtr told_;     // the last one raised, for threads that were waiting then
  uint64_t times_told_ = 0;
  std::atomic<FailureMode> failure_mode_{FailureMode::kContinue};
  std::atomic<bool> overflow_switch_{false};
  std::atomic<bool> aborting_{false};
  std::atomic<const char*> running_task_{nullptr};
  // Atomic, because walks over all streams meet some that are being reopened.
  std::atomic<const void*> owner_{nullptr};
  std::atomic<bool> is_default_{false};
  std::atomic<int32_t> id_{0};
  std::atomic<int> device_{-1};
  void* handle_ = nullptr;
  uint32_t priority_ = 0;
  uint32_t flags_ = 0;
};

/// What the client hears of a failed task (aclrtSetExceptionInfoCallback).
struct TaskFailure {
  uint32_t task_id, stream_id, thread_id, device_id;
  Code code;
};
/// Called in the thread that ran the failed task; null for none.
void set_failure_hook(void (*hook)(const TaskFailure&));

namespace detail {
extern Setting<bool> inline_kernels;   // ANYNPU_INLINE
extern Setting<bool> launch_blocking;  // ASCEND_LAUNCH_BLOCKING
extern Setting<int64_t> queue_tasks;   // ANYNPU_QUEUE_TASKS
extern Setting<int64_t> queue_ms;      // ANYNPU_QUEUE_MS

/// True when it has taken the task, which is kept in place of being run.
using Recorder = bool (*)(Stream&, Task&);
/// Shown every task before it is queued while some stream is captured (capture.h); null otherwise.
extern std::atomic<Recorder> recorder;
}  // namespace detail

}  // namespace npu::device
