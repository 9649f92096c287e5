// SPDX-License-Identifier: Apache-2.0
#include "base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/cores.h"
#include "base/setting.h"

namespace npu {
namespace {

NPU_SETTING(int64_t, threads, "ANYNPU_THREADS", 0,
            "Threads for kernels, shared by all devices; 0: one for each core, of ranks on this host that have none of "
            "their own a part of them.");

// One call of parallel_run. It lives in the caller's frame; `users` keeps helpers from outliving it.
struct Job {
  void (*body)(void*, int64_t);
  void* context;
  int64_t parts;
  std::atomic<int64_t> next{0};
  std::atomic<int> users{0};

  void work() {
    for (int64_t i = next.fetch_add(1); i < parts; i = next.fetch_add(1)) body(context, i);
  }
};

// Kernels of one step follow each other within microseconds, and waking a sleeping thread takes several, in a virtual
// machine fifty: who has nothing to do looks around before it sleeps. For the first while it keeps its core: a thread
// that yields on a busy machine comes back too late for the next kernel. Then, as between the runs of a model, it lets
// everyone else go first.
constexpr std::chrono::microseconds kLookAround{100}, kStayAwake{1000};

template <class Ready>
bool look_around(Ready&& ready) {
  const auto begin = std::chrono::steady_clock::now();
  for (auto now = begin; now < begin + kStayAwake; now = std::chrono::steady_clock::now()) {
    if (ready()) return true;
    if (now >= begin + kLookAround) std::this_thread::yield();
  }
  return ready();
}

class Pool {
 public:
  explicit Pool(size_t threads) : threads_(threads), patient_(threads <= usable_cores()) {
    for (size_t i = 1; i < threads; ++i) std::thread([this] { loop(); }).detach();
  }
  size_t threads() const { return threads_; }

  void run(Job& job) {
    bool asleep = false;
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(&job);
      waiting_.store(jobs_.size(), std::memory_order_release);
      asleep = sleepers_ > 0;
    }
    if (asleep) wake_.notify_all();
    job.work();
    {
      const std::lock_guard lock(mutex_);
      forget(job);  // from here on nobody else joins
    }
    const auto alone = [&] { return job.users.load(std::memory_order_acquire) == 0; };
    if (alone() || (patient_ && look_around(alone))) return;
    std::unique_lock lock(mutex_);
    done_.wait(lock, alone);
  }

 private:
  void forget(Job& job) {
    if (const auto at = std::find(jobs_.begin(), jobs_.end(), &job); at != jobs_.end()) jobs_.erase(at);
    waiting_.store(jobs_.size(), std::memory_order_release);
  }

  void loop() {
    const auto wanted = [&] { return waiting_.load(std::memory_order_acquire) > 0; };
    std::unique_lock lock(mutex_);
    for (;;) {
      if (jobs_.empty() && patient_) {
        lock.unlock();
        look_around(wanted);
        lock.lock();
      }
      ++sleepers_;
      wake_.wait(lock, [&] { return !jobs_.empty(); });
      --sleepers_;
      Job& job = *jobs_.front();
      ++job.users;
      lock.unlock();
      job.work();
      lock.lock();
      forget(job);
      // The caller may be gone with its job as soon as it sees the last user leave.
      if (job.users.fetch_sub(1, std::memory_order_release) == 1) done_.notify_all();
    }
  }

  const size_t threads_;
  const bool patient_;  ///< there is a core for every thread
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::deque<Job*> jobs_;
  std::atomic<size_t> waiting_{0};  ///< jobs_.size(), to be seen without the lock
  int sleepers_ = 0;
};

// Never destroyed: threads may still be inside when the process exits.
Pool& pool() {
  static Pool& instance = *new Pool(threads() > 0 ? static_cast<size_t>(threads()) : core_share());
  return instance;
}

}  // namespace

size_t thread_count() { return pool().threads(); }

void detail::parallel_run(int64_t parts, void (*body)(void*, int64_t), void* context) {
  Job job{body, context, parts};
  pool().run(job);
}

}  // namespace npu
