// SPDX-License-Identifier: Apache-2.0
#include "base/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/setting.h"

namespace npu {
namespace {

NPU_SETTING(int64_t, threads, "ANYNPU_THREADS", 0, "Threads for kernels, shared by all devices; 0 takes every core.");

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

class Pool {
 public:
  explicit Pool(size_t threads) : threads_(threads) {
    for (size_t i = 1; i < threads; ++i) std::thread([this] { loop(); }).detach();
  }
  size_t threads() const { return threads_; }

  void run(Job& job) {
    {
      std::lock_guard lock(mutex_);
      jobs_.push_back(&job);
    }
    wake_.notify_all();
    job.work();
    std::unique_lock lock(mutex_);
    if (const auto at = std::find(jobs_.begin(), jobs_.end(), &job); at != jobs_.end()) jobs_.erase(at);
    done_.wait(lock, [&] { return job.users == 0; });
  }

 private:
  void loop() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return !jobs_.empty(); });
      Job& job = *jobs_.front();
      ++job.users;
      lock.unlock();
      job.work();
      lock.lock();
      if (const auto at = std::find(jobs_.begin(), jobs_.end(), &job); at != jobs_.end()) jobs_.erase(at);
      if (--job.users == 0) done_.notify_all();
    }
  }

  const size_t threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::deque<Job*> jobs_;
};

size_t usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return static_cast<size_t>(std::max(1, CPU_COUNT(&set)));
  return std::max(1u, std::thread::hardware_concurrency());
}

// Never destroyed: threads may still be inside when the process exits.
Pool& pool() {
  static Pool& instance = *new Pool(threads() > 0 ? static_cast<size_t>(threads()) : usable_cores());
  return instance;
}

}  // namespace

size_t thread_count() { return pool().threads(); }

void detail::parallel_run(int64_t parts, void (*body)(void*, int64_t), void* context) {
  Job job{body, context, parts};
  pool().run(job);
}

}  // namespace npu
