// SPDX-License-Identifier: Apache-2.0
#include "device/process/init.h"

#include <pthread.h>

#include <cstdlib>
#include <mutex>

#include "base/error.h"
#include "device/process/status_page.h"

namespace npu::device {
namespace {

// Long enough for a training step in flight, short enough that a stuck callback does not hold a process that wants to
// end.
constexpr int64_t kDrainMs = 10'000;

enum class Life { kNew, kReady, kFinalized };
std::mutex life_mutex;
Life life = Life::kNew;
std::atomic<bool> at_exit{false};
std::atomic<void (*)(int64_t timeout_ms)> drain_hook{nullptr};

void wait_for_work() {
  if (auto* hook = drain_hook.load()) hook(kDrainMs);
}

void in_child() { detail::process_flags.fetch_or(detail::kForked, std::memory_order_relaxed); }

void on_exit() {
  if (detail::process_flags.load(std::memory_order_relaxed) & detail::kForked) return;
  wait_for_work();
  at_exit = true;
  detail::remove_status_page();
}

}  // namespace

std::atomic<uint32_t> detail::process_flags{0};

void detail::refuse_forked() {
  fail(Code::kUninitialized,
       "this process was forked after its parent had used the NPU, which a child cannot share; start workers with "
       "'spawn' or 'forkserver' (multiprocessing.set_start_method), or keep NPU calls out of them");
}

void detail::refuse_unusable() {
  check_process();
  fail(Code::kUninitialized, "aclFinalize was called; only releasing objects is possible now (call aclInit to go on)");
}

void detail::start_process() {
  static std::once_flag once;
  std::call_once(once, [] {
    pthread_atfork(nullptr, nullptr, in_child);
    std::atexit(on_exit);
    publish_status_page();
  });
}

void detail::set_drain(void (*drain)(int64_t timeout_ms)) { drain_hook = drain; }

bool detail::exiting() { return at_exit.load(std::memory_order_relaxed); }

void initialize() {
  check_process();
  std::lock_guard lock(life_mutex);
  if (life == Life::kReady) fail(Code::kRepeatInitialize, "aclInit was called before; one call per process is enough");
  life = Life::kReady;
  detail::process_flags.fetch_and(~detail::kFinalized, std::memory_order_relaxed);
}

void finalize() {
  check_process();
  {
    std::lock_guard lock(life_mutex);
    if (life == Life::kFinalized) fail(Code::kRepeatFinalize, "aclFinalize was called before");
    if (life == Life::kNew) fail(Code::kUninitialized, "aclFinalize was called without aclInit");
    life = Life::kFinalized;
    detail::process_flags.fetch_or(detail::kFinalized, std::memory_order_relaxed);
  }
  wait_for_work();
}

bool initialized() {
  std::lock_guard lock(life_mutex);
  return life == Life::kReady;
}

}  // namespace npu::device
