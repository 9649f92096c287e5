// SPDX-License-Identifier: Apache-2.0
#include "base/log/lock.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace npu {
namespace {

std::atomic<uint32_t> forks{0};

struct Number {
  int32_t thread = 0;
  uint32_t forks = 0;
};
thread_local constinit Number mine{};

}  // namespace

int32_t thread_number() {
  const uint32_t now = forks.load(std::memory_order_relaxed);
  if (mine.thread == 0 || mine.forks != now) mine = {static_cast<int32_t>(syscall(SYS_gettid)), now};
  return mine.thread;
}

void LogLock::lock() {
  const int32_t self = thread_number();
  for (;;) {
    int32_t owner = 0;
    if (owner_.compare_exchange_strong(owner, self, std::memory_order_acquire)) return;
    owner_.wait(owner);
  }
}

void LogLock::unlock() {
  owner_.store(0, std::memory_order_release);
  owner_.notify_one();
}

bool LogLock::try_lock_for(int64_t ms, int32_t thread) {
  for (int64_t waited = 0;; ++waited) {
    int32_t owner = 0;
    if (owner_.compare_exchange_strong(owner, thread, std::memory_order_acquire)) return true;
    if (waited >= ms) return false;
    const timespec millisecond{0, 1'000'000};
    nanosleep(&millisecond, nullptr);
  }
}

void LogLock::reset_in_child() {
  forks.fetch_add(1);
  owner_.store(0);
}

}  // namespace npu
