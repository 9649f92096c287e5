// SPDX-License-Identifier: Apache-2.0
#include "device/queue/stream.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/masked_signals.h"
#include "device/process/init.h"
#include "device/process/status_page.h"
#include "device/trace/recorder.h"

namespace npu::device {

namespace detail {
NPU_SETTING(bool, inline_kernels, "ANYNPU_INLINE", true,
            "Run kernels expected to take under 20 us in the launching thread when their stream is idle, and these, "
            "waits and collectives in a thread that waits for their stream without a limit.");
NPU_SETTING(bool, launch_blocking, "ASCEND_LAUNCH_BLOCKING", false,
            "Finish every kernel before its launch returns, so that errors show at the call that made them.");
NPU_SETTING(int64_t, queue_tasks, "ANYNPU_QUEUE_TASKS", 1024,
            "Tasks that a stream queues at most; a launch waits for room. 0: any number.");
NPU_SETTING(int64_t, queue_ms, "ANYNPU_QUEUE_MS", 500,
            "Milliseconds of expected work that a stream queues at most; a launch waits for room, and Ctrl-C acts once "
            "what is queued has run. 0: any amount.");
constinit std::atomic<Recorder> recorder{nullptr};
}  // namespace detail

namespace {

using Clock = std::chrono::steady_clock;

std::atomic<void (*)(const TaskFailure&)> failure_hook{nullptr};
constinit thread_local const Stream* own_stream = nullptr;  // whose task this thread runs

constexpr uint32_t kNeverInline = kTaskMayWait | kTaskCallback | kTaskHostCopy;
constexpr uint32_t kNeverBlocking = kTaskMayWait | kTaskCallback;

// Reading the clock costs as much as a small kernel's launch, so of those one in kSample is timed and counts for all.
constexpr int64_t kAlwaysTimed = 20'000;
constexpr uint64_t kSample = 17;  // a prime: steps repeat, and each of their tasks has its turn

// A launch that waits for room looks this often whether anything moves.
constexpr auto kLook = std::chrono::milliseconds(100);
constexpr float kLately = 1.0F / 16;  // the share of the newest task in what tasks take of late
constexpr float kWayOff = 16;         // by how much an estimate is believed to be wrong at most

// What a task is expected to take; some say only that they are long.
int64_t expected_ns(const Task& task) { return std::min<int64_t>(task.cost_ns, 1'000'000'000); }

// Writers hold the stream's lock; readers do not.
void count_one(std::atomic<uint64_t>& counter) {
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

void start_thread(Stream* stream, void (*body)(Stream*)) {
  const MaskedSignals masked;
  std::string error;
  try {
    std::thread([stream, body] {
      pthread_setname_np(pthread_self(), fmt::format("npu{}-s{}", stream->device(), stream->id()).c_str());
      body(stream);
    }).detach();
  } catch (const std::system_error& e) {
    error = e.what();
  }
  if (!error.empty()) {
    fail(Code::kRtInternal, "stream {} cannot start its thread ({}); raise the limit of threads or use fewer streams",
         stream->id(), error);
  }
}

}  // namespace

constinit std::atomic<int32_t> Stream::untold_failures_{0};

const Stream* Stream::running() { return own_stream; }

void set_failure_hook(void (*hook)(const TaskFailure&)) { failure_hook = hook; }

// Handing a small kernel to another thread costs more than the kernel, so an idle stream runs it here. The order holds:
// whoever runs a task has the token, and everybody else queues behind it.
void Stream::launch(Task&& task) {
  if (condition_.load(std::memory_order_relaxed) != Condition::kSound) [[unlikely]]
    raise_when_stopped();
  if (auto* record = detail::recorder.load(std::memory_order_relaxed); record != nullptr && record(*this, task))
      [[unlikely]]
    return;
  if (trace::on()) [[unlikely]]
    task.launched = trace::launch_here();
  const bool blocking = detail::launch_blocking() && (task.flags & kNeverBlocking) == 0;
  {
    std::unique_lock lock(mutex_);
    if (!token_ && queued_ == 0 && runs_inline(task)) {
      count_one(progress_->submitted);
      run(lock, task, true);
      pass_on();
    } else {
      wait_for_room(lock, task.flags);
      enqueue(std::move(task));
    }
  }
  if (blocking && own_stream != this) [[unlikely]]
    synchronize();
}

bool Stream::runs_inline(const Task& task) const {
  // Threads made now would be killed in the middle of their work.
  if (detail::exiting()) [[unlikely]]
    return true;
  // Who waits for a kernel runs it as well: what observers do is then done in the thread that asked for it.
  const bool here = task.cost_ns <= kInlineBound || detail::launch_blocking();
  return (task.flags & kNeverInline) == 0 && here && detail::inline_kernels();
}

void Stream::raise_when_stopped() {
  if (failure_mode() == FailureMode::kStop) report();
}

bool Stream::drops(const Task& task) const {
  if ((task.flags & kTaskAlways) != 0) return false;
  if (aborting()) return true;
  switch (condition_.load(std::memory_order_acquire)) {
    case Condition::kSound: return false;
    case Condition::kFailed: return (task.flags & kTaskShows) != 0 || failure_mode() == FailureMode::kStop;
    case Condition::kSpoiled: return true;
  }
  return false;
}

// The token, not the lock, keeps other tasks away meanwhile: queries and launches must not wait for a kernel.
void Stream::run(std::unique_lock<std::mutex>& lock, Task& task, bool at_once) {
  token_ = true;
  runs_waiting_ = (task.flags & kNeverBlocking) != 0;
  lock.unlock();
  execute(task, at_once);
  lock.lock();
  finish_one();
}

// The stream's thread goes on, which has seen others run tasks, and slept: with what is queued, or with its end.
void Stream::pass_on() {
  if (queued_ > 0 || closing_) work_.notify_one();
}

void Stream::enqueue(Task&& task) {
  if (!has_thread_) {
    start_thread(this, [](Stream* stream) { stream->work(); });
    has_thread_ = true;
  }
  push(std::move(task));
  count_one(progress_->submitted);
  if (!token_) work_.notify_one();
}

// By `share` of the bounds.
bool Stream::is_full(double share) const {
  const int64_t tasks = detail::queue_tasks(), milliseconds = detail::queue_ms();
  if (tasks > 0 && static_cast<double>(queued_) >= static_cast<double>(tasks) * share) return true;
  const float expected = expected_.load(std::memory_order_relaxed), spent = spent_.load(std::memory_order_relaxed);
  const float pace = expected > 0 ? std::clamp(spent / expected, 1 / kWayOff, kWayOff) : 1;
  return milliseconds > 0 && static_cast<double>(queued_ns_) * pace >= static_cast<double>(milliseconds) * 1e6 * share;
}

// A quarter of the queue is free, so that the two threads do not wake each other for every task.
bool Stream::has_room() const { return aborting() || queued_ == 0 || !is_full(0.75); }

// A task that waits for another stream, rank or thread may wait for what this thread launches next: where that is so
// and nothing moves, the launch goes on.
void Stream::wait_for_room(std::unique_lock<std::mutex>& lock, uint32_t flags) {
  if (!is_full(1)) [[likely]]
    return;
  if (own_stream != nullptr || (flags & kTaskAlways) != 0 || detail::exiting()) return;
  ++waiting_for_room_;
  while (!has_room()) {
    const uint64_t before = progress_->completed.load(std::memory_order_relaxed);
    room_.wait_for(lock, kLook);
    if (runs_waiting_ && progress_->completed.load(std::memory_order_relaxed) == before) break;
  }
  --waiting_for_room_;
}

// A ring whose size is a power of two: a queue that has found its size allocates nothing more.
void Stream::push(Task&& task) {
  if (queued_ == ring_.size()) {
    std::vector<Task> larger(std::max<size_t>(16, ring_.size() * 2));
    for (size_t i = 0; i < queued_; ++i) larger[i] = std::move(ring_[(head_ + i) & (ring_.size() - 1)]);
    ring_.swap(larger);
    head_ = 0;
  }
  queued_ns_ += expected_ns(task);
  ring_[(head_ + queued_++) & (ring_.size() - 1)] = std::move(task);
}

Task Stream::pop() {
  Task task = std::move(ring_[head_]);
  head_ = (head_ + 1) & (ring_.size() - 1);
  --queued_;
  queued_ns_ -= expected_ns(task);
  return task;
}

void Stream::execute(Task& task, bool at_once) {
  if (drops(task)) [[unlikely]]
    return task.body.reset();
  DeviceCounters& counts = counters(device());
  const uint64_t number = counts.tasks.fetch_add(1, std::memory_order_relaxed);
  const bool is_long = task.cost_ns >= kAlwaysTimed;
  const bool timed = (task.flags & kNeverBlocking) == 0 && (is_long || number % kSample == 0);
  const auto start = timed ? Clock::now() : Clock::time_point();
  const Stream* outer = std::exchange(own_stream, this);
  running_task_.store(task.name, std::memory_order_relaxed);
  NPU_DEVICE_LOG(kDebug, "TS", device(), "stream {} runs {}", id(), task.name);
  std::optional<trace::TaskScope> traced;
  if (trace::on()) [[unlikely]]
    traced.emplace(task.launched, at_once);
  try {
    task.body();
  } catch (...) {
    keep_error(task);
  }
  if (traced) [[unlikely]]
    traced->finish(device(), id(), running_number(), task.name);
  task.body.reset();  // what it holds goes before anybody hears that it is done
  running_task_.store(nullptr, std::memory_order_relaxed);
  own_stream = outer;
  uint64_t spent = 0;
  if (timed) {
    spent = static_cast<uint64_t>(std::chrono::nanoseconds(Clock::now() - start).count()) * (is_long ? 1 : kSample);
    counts.busy_ns.fetch_add(spent, std::memory_order_relaxed);
  }
  if (!at_once) note_pace(task, static_cast<int64_t>(spent));
}

// Called by the thread that has the token. Of short tasks one in kSample counts for all, as above.
void Stream::note_pace(const Task& task, int64_t spent_ns) {
  const auto add = [](std::atomic<float>& mean, int64_t value) {
    const float old = mean.load(std::memory_order_relaxed);
    mean.store(old + (static_cast<float>(value) - old) * kLately, std::memory_order_relaxed);
  };
  if ((task.flags & kNeverBlocking) != 0) return;  // what it waits for is not its own work
  add(spent_, spent_ns);
  add(expected_, expected_ns(task));
}

// Called inside a catch block. The first error stays; what follows is often its consequence.
void Stream::keep_error(const Task& task) {
  std::optional<Error> error;
  try {
    throw;
  } catch (const Error& e) {
    error.emplace(e.code(),
                  fmt::format("{} failed on stream {} of device {}: {}", task.name, id(), device(), e.message()),
                  e.place());
  } catch (const std::exception& e) {
    error.emplace(Code::kAicoreException,
                  fmt::format("{} failed on stream {} of device {}: {}", task.name, id(), device(), e.what()));
  } catch (...) {
    error.emplace(Code::kAicoreException,
                  fmt::format("{} failed on stream {} of device {} for an unknown reason", task.name, id(), device()));
  }
  const Code code = error->code();
  NPU_DEVICE_LOG(kError, "TS", device(), "{}", error->message());
  uint64_t number = 0;
  {
    std::lock_guard lock(mutex_);
    if (!failure_) {
      failure_ = std::make_shared<const Failure>(std::move(*error));
      untold_failures_.fetch_add(1);
    }
    if ((task.flags & kTaskGates) != 0) condition_ = Condition::kSpoiled;
    if (condition_ == Condition::kSound) condition_ = Condition::kFailed;
    number = running_number();
  }
  if (auto* hook = failure_hook.load()) {
    hook({static_cast<uint32_t>(number), static_cast<uint32_t>(id()), static_cast<uint32_t>(gettid()),
          static_cast<uint32_t>(device()), code});
  }
}

void Stream::finish_one() {
  token_ = false;
  count_one(progress_->completed);
  if (waiting_for_room_ > 0 && has_room()) [[unlikely]]
    room_.notify_all();
  // Who waits is not woken for each task before: a thread on the same processor would be in this one's way.
  if (progress_->completed.load(std::memory_order_relaxed) < awaited_) return;
  awaited_ = kNobody;
  done_.notify_all();
}

void Stream::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [this] { return (queued_ > 0 && !token_) || (closing_ && queued_ == 0); });
    if (queued_ == 0) break;
    Task task = pop();
    run(lock, task, false);
  }
  has_thread_ = false;
  done_.notify_all();
}

bool Stream::runs_in_waiter(const Task& task) {
  return (task.flags & kTaskCallback) == 0 && task.cost_ns <= kInlineBound && detail::inline_kernels();
}

// A thread that waits would be woken by the stream's thread, which has to be woken itself: for a small collective both
// cost more than the work. That thread was told of the task all the same, for nobody may ever wait.
void Stream::run_queued(std::unique_lock<std::mutex>& lock, uint64_t target) {
  while (!token_ && queued_ > 0 && progress_->completed.load(std::memory_order_relaxed) < target &&
         runs_in_waiter(ring_[head_])) {
    Task task = pop();
    run(lock, task, false);
  }
  if (!token_) pass_on();
}

void Stream::refuse_own_task(const char* action) const {
  if (own_stream != this) return;
  fail(Code::kRtStreamContext, "a task of stream {} tries to {} its own stream, which would wait for itself", id(),
       action);
}

// Waits for what is queued now; work that others queue meanwhile is not the caller's business.
void Stream::wait(WaitLimit limit) {
  const uint64_t target = progress_->submitted.load(std::memory_order_acquire);
  const auto done = [&] { return progress_->completed.load(std::memory_order_acquire) >= target; };
  if (done()) return;
  refuse_own_task("synchronise");
  std::unique_lock lock(mutex_);
  const uint64_t told_before = times_told_;
  if (limit.none()) run_queued(lock, target);
  const auto until = Clock::now() + std::chrono::milliseconds(limit.none() ? 0 : limit.milliseconds);
  bool in_time = true;
  while (!done() && in_time) {
    awaited_ = std::min(awaited_, target);
    if (limit.none())
      done_.wait(lock);
    else
      in_time = done_.wait_until(lock, until) == std::cv_status::no_timeout;
  }
  if (!done()) {
    fail(Code::kStreamSyncTimeout, "stream {} of device {} still has {} tasks to run after {}{}", id(), device(),
         target - progress_->completed.load(std::memory_order_relaxed), to_string(limit), executing());
  }
  // Another thread that waited for the same work was told first; this one hears it all the same.
  if (times_told_ != told_before && !failure_) throw Error(told_->error);
}

std::string Stream::executing() const {
  const char* task = running_task_.load(std::memory_order_relaxed);
  return task == nullptr ? "; it executes nothing" : fmt::format("; it executes {}", task);
}

void Stream::synchronize(WaitLimit limit) {
  wait(limit);
  // Telling a failure clears it: the client has heard it, and the stream goes on.
  if (const FailurePtr failed = clear(nullptr)) throw Error(failed->error);
}

bool Stream::query() const {
  report();
  return progress_->idle();
}

FailurePtr Stream::failure() const {
  if (condition_.load(std::memory_order_acquire) == Condition::kSound) [[likely]]
    return nullptr;
  std::lock_guard lock(mutex_);
  return failure_;
}

void Stream::report() const {
  if (const FailurePtr failed = failure()) throw Error(failed->error);
}

void Stream::take_over(FailurePtr failure) {
  std::lock_guard lock(mutex_);
  if (!failure_) {
    failure_ = std::move(failure);
    untold_failures_.fetch_add(1);
  }
  condition_ = Condition::kSpoiled;
}

// Takes the failure away, of those that are not null only this one: somebody is being told of it.
FailurePtr Stream::clear(const FailurePtr& only) {
  if (condition_.load(std::memory_order_acquire) == Condition::kSound) [[likely]]
    return nullptr;
  std::lock_guard lock(mutex_);
  if (!failure_ || (only && failure_ != only)) return nullptr;
  untold_failures_.fetch_sub(1);
  condition_ = Condition::kSound;
  failure_->told = true;
  ++times_told_;
  return told_ = std::exchange(failure_, nullptr);
}

}  // namespace npu::device
