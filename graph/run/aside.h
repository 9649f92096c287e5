// SPDX-License-Identifier: Apache-2.0
// Threads beside those that run graphs, one for each group of ranks: what is handed over for a group is done in that
// order, as the other ranks do it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace npu::graph {

/// Work that was handed over.
class Aside {
 public:
  /// Waits until it is done; raises what it raised.
  void join();
  /// Waits only.
  void wait();
  int64_t busy_ns() const { return busy_ns_; }      ///< how long it took
  int64_t waited_ns() const { return waited_ns_; }  ///< how long somebody waited for it

 private:
  friend class GroupThread;
  friend std::shared_ptr<Aside> hand_over(const std::string& group, std::function<void()> work);
  void run();

  std::function<void()> work_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  std::exception_ptr error_;
  int64_t busy_ns_ = 0, waited_ns_ = 0;
};

/// Hands `work` to the thread of `group`.
std::shared_ptr<Aside> hand_over(const std::string& group, std::function<void()> work);
/// Waits until all that was handed over for `group` is done: before its next collective runs in the calling thread.
void settle(const std::string& group);

}  // namespace npu::graph
