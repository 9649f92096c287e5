// SPDX-License-Identifier: Apache-2.0
#include "device/queue/callback.h"

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

#include "device/process/init.h"
#include "device/queue/stream.h"

namespace npu::device {
namespace {

struct Report {
  HostFunction function;
  void* data;
  const Stream* stream;
  bool ended = false;  // ran, or will never run
};

// The one lock of this file: reports are rare and their work runs outside it.
struct Board {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<const Stream*, uint64_t> thread_of;
  std::map<uint64_t, std::deque<std::shared_ptr<Report>>> due;  // by thread
  bool subscribed(uint64_t thread) const {
    for (const auto& [stream, its_thread] : thread_of) {
      if (its_thread == thread) return true;
    }
    return false;
  }
  bool has_due(uint64_t thread, const Stream& stream) {
    for (const auto& report : due[thread]) {
      if (report->stream == &stream) return true;
    }
    return false;
  }
};

Board& board() {
  static Board& instance = *new Board;
  return instance;
}

constinit thread_local bool in_callback = false;

constexpr std::chrono::milliseconds kSlice{20};
constexpr std::chrono::milliseconds kGrace{1000};  // for callbacks that are due when their thread is unsubscribed

// Hands the report over and, when blocking, waits until it ran, was dropped, or the stream is torn down.
void post(const Stream& stream, HostFunction function, void* data, bool blocking) {
  auto report = std::make_shared<Report>(Report{function, data, &stream});
  std::unique_lock lock(board().mutex);
  const auto at = board().thread_of.find(&stream);
  if (at == board().thread_of.end()) {
    fail(Code::kStreamNotSubscribed, "the thread of the callback was unsubscribed before it could run");
  }
  board().due[at->second].push_back(report);
  board().changed.notify_all();
  while (blocking && !report->ended && !stream.aborting() && !detail::exiting()) board().changed.wait_for(lock, kSlice);
}

// With the lock held: takes the stream's thread away and lets go of whoever waits for its reports.
void forget(const Stream& stream) {
  const auto at = board().thread_of.find(&stream);
  if (at == board().thread_of.end()) return;
  auto& due = board().due[at->second];
  for (auto report = due.begin(); report != due.end();) {
    if ((*report)->stream != &stream) {
      ++report;
      continue;
    }
    (*report)->ended = true;
    report = due.erase(report);
  }
  board().thread_of.erase(at);
  board().changed.notify_all();
}

}  // namespace

void subscribe(uint64_t thread_id, Stream& stream) {
  check_process();
  std::lock_guard lock(board().mutex);
  if (!board().thread_of.emplace(&stream, thread_id).second) {
    fail(Code::kRepeatSubscribe, "stream {} has a callback thread already; call aclrtUnSubscribeReport first",
         stream.id());
  }
  board().changed.notify_all();
}

void unsubscribe(uint64_t thread_id, Stream& stream) {
  check_process();
  std::unique_lock lock(board().mutex);
  const auto at = board().thread_of.find(&stream);
  if (at == board().thread_of.end() || at->second != thread_id) {
    fail(Code::kStreamNotSubscribed, "thread {:#x} is not the callback thread of stream {}", thread_id, stream.id());
  }
  if (thread_id != pthread_self()) {
    board().changed.wait_for(lock, kGrace, [&] { return !board().has_due(thread_id, stream); });
  }
  forget(stream);
}

void launch_callback(Stream& stream, HostFunction function, void* data, bool blocking) {
  check_process();
  {
    std::lock_guard lock(board().mutex);
    if (!board().thread_of.contains(&stream)) {
      fail(Code::kStreamNotSubscribed, "stream {} has no callback thread; call aclrtSubscribeReport first",
           stream.id());
    }
  }
  stream.report();
  stream.launch({"host callback", 0, kTaskCallback | kTaskMayWait | kTaskShows,
                 [&stream, function, data, blocking] { post(stream, function, data, blocking); }});
}

void process_report(int64_t timeout_ms) {
  check_process();
  const uint64_t self = pthread_self();
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms < 0 ? 1000 : timeout_ms);
  std::unique_lock lock(board().mutex);
  auto& due = board().due[self];
  while (due.empty()) {
    const bool for_ever = timeout_ms < 0 && board().subscribed(self);
    if (for_ever) {
      board().changed.wait(lock);
    } else if (board().changed.wait_until(lock, until) == std::cv_status::timeout && due.empty()) {
      if (board().subscribed(self)) {
        if (timeout_ms < 0) continue;
        fail(Code::kReportTimeout, "no callback came within {} ms", timeout_ms);
      }
      fail(Code::kRtThreadSubscribe, "this thread is subscribed to no stream; call aclrtSubscribeReport with its id");
    }
  }
  while (!due.empty()) {
    const std::shared_ptr<Report> report = due.front();
    due.pop_front();
    lock.unlock();
    in_callback = true;
    report->function(report->data);
    in_callback = false;
    lock.lock();
    report->ended = true;
    board().changed.notify_all();
  }
}

void launch_host_function(Stream& stream, HostFunction function, void* data) {
  check_process();
  stream.report();
  stream.launch({"host function", 0, kTaskCallback | kTaskShows, [function, data] { function(data); }});
}

bool is_awaited_by_work() {
  if (in_callback || Stream::running() != nullptr) return true;
  std::lock_guard lock(board().mutex);
  return board().subscribed(pthread_self());
}

void detail::drop_subscription(const Stream& stream) {
  std::lock_guard lock(board().mutex);
  forget(stream);
}

}  // namespace npu::device
