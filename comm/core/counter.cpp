// SPDX-License-Identifier: Apache-2.0
#include "comm/core/counter.h"

#include <hwy/cache_control.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <climits>
#include <ctime>

#include "device/trace/recorder.h"

namespace npu::comm {
namespace {

constexpr int64_t kSleepNs = 50'000'000;

long futex(std::atomic<uint32_t>& word, int what, uint32_t value, const timespec* timeout) {
  return syscall(SYS_futex, &word, what, value, timeout, nullptr, 0);
}

int64_t since_ms(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

// Sequentially consistent against the sleeper's count: either it sees the new value, or it is seen here.
void Counter::set(uint32_t to) {
  value.store(to, std::memory_order_seq_cst);
  if (sleepers.load(std::memory_order_seq_cst) != 0) wake();
}

void Counter::advance() {
  value.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers.load(std::memory_order_seq_cst) != 0) wake();
}

// The fence is for the same reason. It is cheap when the value has long left the processor.
void Counter::wake_sleepers() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (sleepers.load(std::memory_order_relaxed) != 0) wake();
}

void Counter::wake() { futex(value, FUTEX_WAKE, INT_MAX, nullptr); }

Spin Spin::for_ranks(uint32_t ranks_on_host, uint32_t processors) {
  return processors >= ranks_on_host ? Spin{2000, 50} : Spin{20, 200};
}

namespace {

constinit thread_local int64_t waited = 0;

/// Counted however the wait ends.
class Wait {
 public:
  Wait() : start_(device::trace::on() ? device::trace::now() : 0) {}
  ~Wait() {
    if (start_ != 0) [[unlikely]]
      waited += device::trace::now() - start_;
  }
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

 private:
  const int64_t start_;
};

}  // namespace

int64_t waited_here() { return waited; }

void wait_until(Counter& counter, uint32_t target, const Spin& spin, void (*look_around)(void*, int64_t),
                void* context) {
  if (counter.reached(target)) return;
  const Wait counted;
  for (int i = 0; i < spin.pauses; ++i) {
    if (counter.reached(target)) return;
    hwy::Pause();
  }
  for (int i = 0; i < spin.yields; ++i) {
    if (counter.reached(target)) return;
    sched_yield();
  }
  const auto start = std::chrono::steady_clock::now();
  const timespec timeout{0, kSleepNs};
  while (!counter.reached(target)) {
    look_around(context, since_ms(start));
    counter.sleepers.fetch_add(1, std::memory_order_seq_cst);
    const uint32_t seen = counter.value.load(std::memory_order_seq_cst);
    if (static_cast<int32_t>(seen - target) < 0) futex(counter.value, FUTEX_WAIT, seen, &timeout);
    counter.sleepers.fetch_sub(1, std::memory_order_relaxed);
  }
}

}  // namespace npu::comm
