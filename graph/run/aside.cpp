// SPDX-License-Identifier: Apache-2.0
#include "graph/run/aside.h"

#include <chrono>
#include <deque>
#include <map>
#include <thread>
#include <utility>

#include "base/masked_signals.h"

namespace npu::graph {
namespace {

int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

}  // namespace

/// Never destroyed: the process may end while ranks that have failed are still waited for.
class GroupThread {
 public:
  GroupThread() {
    const MaskedSignals masked;
    std::thread([this] { serve(); }).detach();
  }

  void add(std::shared_ptr<Aside> one) {
    const std::lock_guard lock(mutex_);
    open_.push_back(std::move(one));
    came_.notify_one();
  }
  std::shared_ptr<Aside> last() {
    const std::lock_guard lock(mutex_);
    return open_.empty() ? running_ : open_.back();
  }

  /// The thread of the group; null where there is none and none is wanted.
  static GroupThread* of(const std::string& group, bool wanted) {
    static auto& mutex = *new std::mutex;
    static auto& all = *new std::map<std::string, GroupThread*>;
    const std::lock_guard lock(mutex);
    const auto at = all.find(group);
    if (at != all.end()) return at->second;
    return wanted ? all.emplace(group, new GroupThread).first->second : nullptr;
  }

 private:
  void serve() {
    while (true) {
      std::shared_ptr<Aside> next;
      {
        std::unique_lock lock(mutex_);
        running_.reset();
        came_.wait(lock, [&] { return !open_.empty(); });
        running_ = next = std::move(open_.front());
        open_.pop_front();
      }
      next->run();
    }
  }

  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<std::shared_ptr<Aside>> open_;
  std::shared_ptr<Aside> running_;
};

void Aside::run() {
  const int64_t start = now_ns();
  std::exception_ptr error;
  try {
    work_();
  } catch (...) {
    error = std::current_exception();
  }
  work_ = {};
  const std::lock_guard lock(mutex_);
  error_ = error, busy_ns_ = now_ns() - start, done_ = true;
  ended_.notify_all();
}

void Aside::wait() {
  std::unique_lock lock(mutex_);
  if (done_) return;
  const int64_t start = now_ns();
  ended_.wait(lock, [&] { return done_; });
  waited_ns_ += now_ns() - start;
}

void Aside::join() {
  wait();
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

std::shared_ptr<Aside> hand_over(const std::string& group, std::function<void()> work) {
  auto one = std::make_shared<Aside>();
  one->work_ = std::move(work);
  GroupThread::of(group, true)->add(one);
  return one;
}

void settle(const std::string& group) {
  GroupThread* const thread = GroupThread::of(group, false);
  if (thread == nullptr) return;
  if (const auto last = thread->last()) last->wait();
}

}  // namespace npu::graph
