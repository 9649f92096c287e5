// SPDX-License-Identifier: Apache-2.0
// Where records go while a process is profiled. Each thread writes into a piece of the file that is its own, without a
// lock; a lock is taken for a new piece, about once in a thousand records, and for texts.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "device/trace/listener.h"
#include "device/trace/record.h"

namespace npu::device::trace {

namespace detail {
extern std::atomic<bool> on;     // somebody writes or listens
extern std::atomic<bool> calls;  // of the host are wanted too
}  // namespace detail
/// Whether records are wanted. A forked child writes none.
inline bool on() { return detail::on.load(std::memory_order_relaxed); }

/// Nanoseconds of CLOCK_MONOTONIC_RAW, the clock of all records.
int64_t now();

/// What of the client is written down beside tasks and memory.
struct Wanted {
  bool calls = true, marks = true;
};

/// Begins to write below `folder`, which exists, and ends what was running. Raises 100000 where no file can be made
/// there. `fail` hears, once, why records could not be written later (a full disk): that ends the recording, and
/// nothing else.
void start(const std::string& folder, Wanted wanted, std::function<void(const std::string&)> fail);
/// What threads are about to write is still written.
void stop();

/// The number of `text` in the records; 0 of "".
uint32_t number_of(std::string_view text);
/// The same of a text that stays where it is, and as it is, as long as the process: found again by its address.
uint32_t number_of_constant(const char* text);

/// What a record of an operator says in texts.
struct Labels {
  Unit unit = Unit::kNone;
  uint32_t type = 0, name = 0, inputs = 0, outputs = 0;
};
/// As this thread has kept them by `key`, which is all that they depend on; null where it has not. Spelling texts takes
/// longer than a small operator.
const Labels* known_labels(std::span<const uint64_t> key);
void keep_labels(std::span<const uint64_t> key, const Labels& labels);
void add(const TaskRecord& record);
void add(const CallRecord& record);
void add(const MarkRecord& record);
void add(const MemoryRecord& record);
void add(const GraphRecord& record);
void add(const GroupRecord& record);
void add(const LinkRecord& record);
/// A mark that has no end yet: only who listens hears of it.
void begin(const MarkRecord& record);

/// That this thread queues a task now.
Launch launch_here();
uint32_t thread_number();

/// In place of the number of what runs in the thread that asked for it: it is no task of the stream that it comes
/// after.
inline constexpr uint64_t kNoNumber = 4294967295;

/// A task that runs in this thread. Written down when it has ended, unless somebody else did: who knows the operator.
class TaskScope {
 public:
  /// `at_once`: in the thread that launched it, so that it began then; no clock is read anew.
  explicit TaskScope(const Launch& launch, bool at_once = false);
  ~TaskScope();
  TaskScope(const TaskScope&) = delete;
  TaskScope& operator=(const TaskScope&) = delete;

  void finish(int device, int32_t stream, uint64_t number, const char* name);

  /// What runs in this thread; null outside of tasks, and of those that began before the recording.
  static TaskScope* current();
  const Launch& launch() const { return launch_; }
  /// For who knows an operator of this task that begins: the start of a task that began at once is near enough.
  int64_t start_of_operator() const { return at_once_ && !told_ ? start_ : now(); }
  void told() { told_ = true; }
  void moves(Move move, uint64_t bytes) { move_ = move, bytes_ = bytes; }

 private:
  const Launch launch_;
  const bool at_once_;
  const int64_t start_;
  TaskScope* const outer_;
  bool told_ = false;
  Move move_ = Move::kNone;
  uint64_t bytes_ = 0;
};
/// What the task that runs in this thread moves, if it is recorded.
inline void moves(Move move, uint64_t bytes) {
  if (on()) [[unlikely]]
    if (TaskScope* const task = TaskScope::current()) task->moves(move, bytes);
}

/// A call of the client, from here to the end of the scope. The outermost one of a thread counts: what our functions
/// call of each other is theirs. `name` lives as long as the process.
class CallScope {
 public:
  CallScope(const char* name, Level level) : name_(name), level_(level) {
    if (detail::calls.load(std::memory_order_relaxed)) [[unlikely]]
      begin();
  }
  ~CallScope() {
    if (start_ != 0) [[unlikely]]
      finish();
  }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  /// Where this thread works for nobody: for those of the thread that prepared the call.
  void prepared_for(const Owners& owners) const {
    if (start_ != 0) [[unlikely]]
      enter(owners);
  }

 private:
  void begin();
  void finish() const;
  void enter(const Owners& prepared) const;

  const char* const name_;
  const Level level_;
  int64_t start_ = 0;
  uint32_t number_ = 0, outer_ = 0;
};

}  // namespace npu::device::trace
