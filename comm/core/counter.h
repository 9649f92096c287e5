// SPDX-License-Identifier: Apache-2.0
// A counter that one rank moves on and others wait for, in memory that processes share. Waiting threads spin for a
// moment, let others run for a moment, then sleep in the kernel until the counter moves.
#pragma once

#include <atomic>
#include <cstdint>

namespace npu::comm {

struct Counter {
  std::atomic<uint32_t> value{0};
  std::atomic<uint32_t> sleepers{0};

  /// Everything the owner wrote before is seen by whoever sees the new value.
  void set(uint32_t to);
  /// The first half of set(): those who sleep do not hear it before wake_sleepers().
  void publish(uint32_t to) { value.store(to, std::memory_order_release); }
  void wake_sleepers();
  /// The same, by one, from any of several ranks.
  void advance();
  /// Wakes all that sleep on it, so that they look around.
  void wake();
  /// Counters wrap: only distances count.
  bool reached(uint32_t target) const {
    return static_cast<int32_t>(value.load(std::memory_order_acquire) - target) >= 0;
  }
};

/// Whether spinning makes sense: as many processors as ranks on this host.
struct Spin {
  int pauses = 0, yields = 0;
  static Spin for_ranks(uint32_t ranks_on_host, uint32_t processors);
};

/// Waits until `counter` has reached `target`. `look_around(context, milliseconds)` is called before the thread sleeps
/// and then after each sleep, at least every 50 ms, with the time waited so far; it ends the wait by throwing.
void wait_until(Counter& counter, uint32_t target, const Spin& spin, void (*look_around)(void*, int64_t),
                void* context);

/// Nanoseconds that this thread has waited so while the process was profiled; for differences.
int64_t waited_here();

template <class F>
void wait_until(Counter& counter, uint32_t target, const Spin& spin, F&& look_around) {
  wait_until(
      counter, target, spin,
      [](void* context, int64_t waited_ms) { (*static_cast<std::remove_reference_t<F>*>(context))(waited_ms); },
      &look_around);
}

}  // namespace npu::comm
