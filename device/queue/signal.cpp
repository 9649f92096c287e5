// SPDX-License-Identifier: Apache-2.0
#include "device/queue/signal.h"

#include <chrono>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "device/queue/stream.h"

namespace npu::device {
namespace {

using Clock = std::chrono::steady_clock;

// How often a waiting task looks whether it should end.
constexpr std::chrono::milliseconds kSlice{20};
// After which a wait is reported: a graph whose flag nobody sets stands still.
constexpr std::chrono::seconds kLong{10};

constinit thread_local const std::atomic<bool>* abort_flag = nullptr;

bool aborted() { return abort_flag != nullptr && abort_flag->load(std::memory_order_relaxed); }

bool stream_ends() {
  const Stream* stream = Stream::running();
  return stream != nullptr && stream->aborting();
}

}  // namespace

AbortableRun::AbortableRun(const std::atomic<bool>& aborted) : outer_(std::exchange(abort_flag, &aborted)) {}
AbortableRun::~AbortableRun() { abort_flag = outer_; }

void Signal::set(FailurePtr failed) {
  const std::lock_guard lock(mutex_);
  set_ = true;
  failure_ = std::move(failed);
  changed_.notify_all();
}

void Signal::clear() {
  const std::lock_guard lock(mutex_);
  set_ = false;
  failure_.reset();
}

bool Signal::is_set() const {
  const std::lock_guard lock(mutex_);
  return set_;
}

void Signal::report() const {
  FailurePtr failed;
  {
    const std::lock_guard lock(mutex_);
    failed = failure_;
  }
  if (failed) throw Error(failed->error);
}

void Signal::wait_in_task() {
  const auto start = Clock::now();
  bool reported = false;
  std::unique_lock lock(mutex_);
  while (!set_ && !stream_ends()) {
    if (aborted()) fail(Code::kFailure, "the run was aborted while it waited for an external event");
    changed_.wait_for(lock, kSlice);
    const auto waited = Clock::now() - start;
    const uint32_t limit = op_wait_timeout();
    if (limit != 0 && waited >= std::chrono::seconds(limit))
      fail(Code::kRtWaitTimeout, "the external event was not recorded within {} s (aclrtSetOpWaitTimeout)", limit);
    if (!reported && waited >= kLong) {
      NPU_LOG(kWarning, "TS", "a wait for an external event has lasted {} s; record the event before each run",
              kLong.count());
      reported = true;
    }
  }
  const FailurePtr failed = failure_;
  lock.unlock();
  if (failed) throw Error(failed->error);
}

bool Signal::wait(WaitLimit limit) {
  std::unique_lock lock(mutex_);
  const auto is_set = [this] { return set_; };
  if (!limit.none()) return changed_.wait_for(lock, std::chrono::milliseconds(limit.milliseconds), is_set);
  changed_.wait(lock, is_set);
  return true;
}

}  // namespace npu::device
