// SPDX-License-Identifier: Apache-2.0
#include "adapters/tensorflow/host/python_thread.h"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace npu::tensorflow {
namespace {

std::atomic<void (*)()> thread_start{nullptr};

/// A thread that waits for work as long as the process lives.
class Worker {
 public:
  Worker() {
    std::thread([this] { serve(); }).detach();
  }

  void run(const std::function<void()>& work) {
    std::unique_lock lock(mutex_);
    work_ = &work;
    changed_.notify_all();
    changed_.wait(lock, [this] { return work_ == nullptr; });
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  void serve() {
    if (auto* const start = thread_start.load()) start();
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return work_ != nullptr; });
      lock.unlock();
      std::exception_ptr error;
      try {
        (*work_)();
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      error_ = std::move(error);
      work_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* work_ = nullptr;
  std::exception_ptr error_;
};

/// Those without work. Never destroyed, nor are the workers: they may still wait when the process ends.
struct Idle {
  std::mutex mutex;
  std::vector<Worker*> workers;
};

Idle& idle() {
  static auto* const all = new Idle;
  return *all;
}

Worker* take() {
  Idle& all = idle();
  const std::lock_guard lock(all.mutex);
  if (all.workers.empty()) return new Worker;
  Worker* worker = all.workers.back();
  all.workers.pop_back();
  return worker;
}

void give_back(Worker* worker) {
  Idle& all = idle();
  const std::lock_guard lock(all.mutex);
  all.workers.push_back(worker);
}

}  // namespace

void set_thread_start(void (*start)()) { thread_start = start; }

void run_on_python_thread(const std::function<void()>& work) {
  struct Turn {
    Worker* worker = take();
    ~Turn() { give_back(worker); }
  } turn;
  turn.worker->run(work);
}

}  // namespace npu::tensorflow
