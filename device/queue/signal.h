// SPDX-License-Identifier: Apache-2.0
// A flag between streams (ACL_EVENT_EXTERNAL): one stream sets it, another waits until it is set, and clears it. Other
// than the marks of event.h, a wait may be queued before anybody has set the flag, and a recorded wait waits anew in
// each run of its graph.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "device/queue/failure.h"
#include "device/queue/wait_limit.h"

namespace npu::device {

class Signal {
 public:
  /// `failed` is the failure of the work before, null for none; whoever waits raises it.
  void set(FailurePtr failed);
  void clear();
  bool is_set() const;
  /// From a task: waits until the flag is set. Ends early when the stream is destroyed by force. Raises 107019 after
  /// the limit of aclrtSetOpWaitTimeout, 500001 when the run of the graph was aborted, and the failure that came with
  /// the flag.
  void wait_in_task();
  /// From the client's thread. False after `limit`.
  bool wait(WaitLimit limit);
  /// Raises the failure that came with the flag.
  void report() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool set_ = false;
  FailurePtr failure_;
};

/// While it lives, waits in tasks of this thread end when `aborted` becomes true.
class AbortableRun {
 public:
  explicit AbortableRun(const std::atomic<bool>& aborted);
  ~AbortableRun();
  AbortableRun(const AbortableRun&) = delete;
  AbortableRun& operator=(const AbortableRun&) = delete;

 private:
  const std::atomic<bool>* outer_;
};

}  // namespace npu::device
