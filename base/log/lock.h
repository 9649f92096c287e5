// SPDX-License-Identifier: Apache-2.0
// The lock of the process log. Other than a mutex it may be taken, for a while, in a signal handler, which may have
// interrupted its owner, and it can be put back in a forked child.
#pragma once

#include <atomic>
#include <cstdint>

namespace npu {

/// The kernel's number of this thread, asked for once a thread and process: the call is dear.
int32_t thread_number();

class LogLock {
 public:
  void lock();
  void unlock();
  /// False if `ms` milliseconds were not enough. Safe in a signal handler, with that thread's number.
  bool try_lock_for(int64_t ms, int32_t thread);
  /// True in a handler that interrupted the owner.
  bool is_of(int32_t thread) const { return owner_.load() == thread; }
  /// In a forked child, whose parent held it while it forked: nobody else is left.
  void reset_in_child();

 private:
  std::atomic<int32_t> owner_{0};
};

}  // namespace npu
