// SPDX-License-Identifier: Apache-2.0
// What a crash leaves of the log. Lines below WARNING wait in a buffer for at most a tenth of a second; a fatal signal
// writes the buffers out before it goes on to whoever handled it before: Python's faulthandler, a sanitizer, the
// system. No signal is touched until the first such line is buffered, so that processes at the default level keep all
// theirs.
#pragma once

#include <atomic>
#include <cstddef>

#include "base/log/lock.h"

namespace npu {

/// Text on its way into a file. Only the owner of the log's lock changes it; a signal handler reads it.
struct LogBuffer {
  static constexpr size_t kCapacity = size_t{64} << 10;
  std::atomic<int> file{-1};
  std::atomic<size_t> used{0};
  std::atomic<size_t> on_disk{0};
  char* text = nullptr;  ///< kCapacity bytes, never freed
};

/// From here on a fatal signal writes `buffer`; it must live for ever. Beyond 256 buffers nothing happens.
void write_at_crash(LogBuffer& buffer);
/// Puts our handlers before those of SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT, once a process; an ignored signal
/// stays ignored.
void watch_crashes(LogLock& lock);

}  // namespace npu
