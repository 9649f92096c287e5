// SPDX-License-Identifier: Apache-2.0
#include "device/queue/event.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "device/process/handle.h"
#include "device/process/init.h"
#include "device/queue/signal.h"
#include "device/queue/stream.h"
#include "device/queue/stream_table.h"

namespace npu::device {
namespace {

using Clock = std::chrono::steady_clock;

// One record. Waits and later questions share it, so a newer record leaves them alone.
struct Mark {
  explicit Mark(void* recorded_on) : stream(recorded_on) {}
  void* const stream;
  std::atomic<bool> reached{false};
  std::atomic<bool> told{false};  // somebody who asked for this mark has heard of the failure
  FailurePtr failure;             // of the work before the mark; set before it is reached
  int64_t time_ns = 0;
  std::mutex mutex;
  std::condition_variable changed;

  void reach(FailurePtr failed) {
    failure = std::move(failed);
    time_ns = std::chrono::nanoseconds(Clock::now().time_since_epoch()).count();
    std::lock_guard lock(mutex);
    reached.store(true, std::memory_order_release);
    changed.notify_all();
  }
  bool is_reached() const { return reached.load(std::memory_order_acquire); }
  bool wait_for(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, limit, [this] { return is_reached(); });
  }
};

struct Event {
  std::mutex mutex;
  uint32_t flags = 0;
  std::shared_ptr<Mark> last;
  std::shared_ptr<Signal> signal;               // of an external event, in place of marks
  std::shared_ptr<std::atomic<int64_t>> waits;  // shared with queued waits, which may outlive the event
};

using Table = HandleTable<Event, HandleKind::kEvent>;

Table& table() {
  static Table& instance = *new Table;
  return instance;
}

std::shared_ptr<Mark> last_mark(void* event) {
  check_process();
  Event& found = table().get(event);
  std::lock_guard lock(found.mutex);
  return found.last;
}

/// The flag of an external event, null for other events.
std::shared_ptr<Signal> signal_of(void* event) {
  check_process();
  Event& found = table().get(event);
  std::lock_guard lock(found.mutex);
  return found.signal;
}

// How often a waiting stream looks whether it is being destroyed by force.
constexpr std::chrono::milliseconds kSlice{20};

void wait_until_reached(Mark& mark, const Stream& stream) {
  const auto start = Clock::now();
  while (!mark.is_reached() && !stream.aborting() && !mark.wait_for(kSlice)) {
    const uint32_t limit = op_wait_timeout();
    if (limit == 0 || Clock::now() - start < std::chrono::seconds(limit)) continue;
    fail(Code::kRtWaitTimeout, "the event was not reached within {} s (aclrtSetOpWaitTimeout)", limit);
  }
}

void take_what_it_waits_for(Mark& mark, Stream& stream) {
  wait_until_reached(mark, stream);
  if (mark.is_reached() && mark.failure) stream.take_over(mark.failure);
}

// Whoever asks for the mark hears of the failure: every time until a stream's synchronisation has told it, too, and
// once in any case. Clients that recover ask for old marks again (allocators do), and must come past them then.
void raise_failure_of(Mark& mark) {
  if (!mark.failure) [[likely]]
    return;
  const bool known = mark.failure->told;
  if (!mark.told.exchange(true) || !known) throw Error(mark.failure->error);
}

// What keeps the mark from being reached.
std::string executing_before(const Mark& mark) {
  const Stream* stream = find_stream(mark.stream);
  if (stream == nullptr) return "; its stream was destroyed";
  return fmt::format(" on stream {} of device {}{}", stream->id(), stream->device(), stream->executing());
}

// The time of a reached mark; `which` names the argument.
int64_t time_of(void* event, const char* which) {
  check_process();
  Event& found = table().get(event);
  std::lock_guard lock(found.mutex);
  if (found.flags != 0 && (found.flags & kEventTimeline) == 0) {
    fail(Code::kRtEventTimestamp,
         "the {} event was made with flags {:#x}; only ACL_EVENT_TIME_LINE (0x8) events have a "
         "time",
         which, found.flags);
  }
  if (!found.last) fail(Code::kRtEventTimestamp, "the {} event was not recorded; call aclrtRecordEvent first", which);
  if (!found.last->is_reached()) {
    fail(Code::kRtEventTimestamp, "the {} event was not reached yet; call aclrtSynchronizeEvent first", which);
  }
  return found.last->time_ns;
}

}  // namespace

void* create_event(uint32_t flags) {
  check_usable();
  if ((flags & kEventIpc) != 0) {
    fail(Code::kFeatureUnsupported,
         "events cannot be shared between processes (flag ACL_EVENT_IPC); create it without");
  }
  if ((flags & kEventExternal) != 0 && flags != kEventExternal)
    fail(Code::kRtParamInvalid, "flag is {:#x}; ACL_EVENT_EXTERNAL (0x20) cannot be combined with other bits", flags);
  return table().create([&](Event& event, void*) {
    event.flags = flags;
    event.last.reset();
    event.signal = flags == kEventExternal ? std::make_shared<Signal>() : nullptr;
    event.waits = std::make_shared<std::atomic<int64_t>>(0);
  });
}

void destroy_event(void* event) {
  check_process();
  Event* found = table().retire(event);
  if (found == nullptr) refuse_handle(HandleKind::kEvent, event);
  {
    std::lock_guard lock(found->mutex);
    found->last.reset();
    found->signal.reset();
    found->waits.reset();
  }
  table().recycle(event);
}

bool is_external(void* event) { return signal_of(event) != nullptr; }

void record_event(void* event, Stream& stream) {
  if (const auto signal = signal_of(event)) {
    return stream.launch({"external event record", 0, kTaskAlways, [signal] {
                            const Stream* runner = Stream::running();
                            signal->set(runner == nullptr ? nullptr : runner->failure());
                          }});
  }
  Event& found = table().get(event);
  auto mark = std::make_shared<Mark>(stream.handle());
  stream.launch({"event record", 0, kTaskAlways, [mark, &stream] { mark->reach(stream.failure()); }});
  std::lock_guard lock(found.mutex);
  found.last = std::move(mark);
}

void wait_event(Stream& stream, void* event) {
  check_process();
  Event& found = table().get(event);
  std::shared_ptr<Mark> mark;
  std::shared_ptr<Signal> signal;
  std::shared_ptr<std::atomic<int64_t>> waits;
  {
    std::lock_guard lock(found.mutex);
    mark = found.last;
    signal = found.signal;
    waits = found.waits;
  }
  if (signal) {
    return stream.launch({"external event wait", 0, kTaskMayWait | kTaskAlways | kTaskGates | kTaskRepeats,
                          [signal] { signal->wait_in_task(); }});
  }
  // Work of the same stream is in order anyway.
  if (!mark || mark->stream == stream.handle() || (mark->is_reached() && !mark->failure)) return;
  waits->fetch_add(1);
  // Counts down even when the task is dropped unrun.
  auto pending = std::shared_ptr<void>(nullptr, [waits](void*) { waits->fetch_sub(1); });
  stream.launch({"event wait", 0, kTaskMayWait | kTaskAlways | kTaskGates,
                 [mark, pending, &stream] { take_what_it_waits_for(*mark, stream); }});
}

void reset_event(void* event, Stream& stream) {
  if (const auto signal = signal_of(event))
    return stream.launch({"external event reset", 0, kTaskAlways, [signal] { signal->clear(); }});
  stream.launch({"event reset", 0, kTaskAlways, [event, mark = last_mark(event)] {
                   Event* found = table().find(event);
                   if (found == nullptr) return;
                   std::lock_guard lock(found->mutex);
                   if (found->last == mark) found->last.reset();
                 }});
}

bool event_complete(void* event) {
  if (const auto signal = signal_of(event)) {
    signal->report();
    return signal->is_set();
  }
  const auto mark = last_mark(event);
  if (!mark) return true;
  if (!mark->is_reached()) return false;
  raise_failure_of(*mark);
  return true;
}

bool event_waits_complete(void* event) {
  check_process();
  Event& found = table().get(event);
  std::lock_guard lock(found.mutex);
  return !found.waits || found.waits->load() == 0;
}

void synchronize_event(void* event, WaitLimit limit) {
  if (const auto signal = signal_of(event)) {
    if (!signal->wait(limit))
      fail(Code::kEventSyncTimeout, "the external event was not recorded within {}", to_string(limit));
    return signal->report();
  }
  const auto mark = last_mark(event);
  if (!mark) return;
  if (limit.none()) {
    while (!mark->wait_for(std::chrono::hours(1))) {
    }
  } else if (!mark->wait_for(std::chrono::milliseconds(limit.milliseconds))) {
    fail(Code::kEventSyncTimeout, "the event was not reached within {}{}", to_string(limit), executing_before(*mark));
  }
  raise_failure_of(*mark);
}

float elapsed_ms(void* start, void* end) {
  const int64_t first = time_of(start, "start");
  const int64_t last = time_of(end, "end");
  if (last < first) {
    fail(Code::kRtEventTimestampReversal, "the end event was reached {:.3f} ms before the start event; swap them",
         static_cast<double>(first - last) * 1e-6);
  }
  return static_cast<float>(static_cast<double>(last - first) * 1e-6);
}

uint64_t event_timestamp_us(void* event) { return static_cast<uint64_t>(time_of(event, "recorded")) / 1000; }

}  // namespace npu::device
