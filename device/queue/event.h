// SPDX-License-Identifier: Apache-2.0
// Marks in a stream. Each record replaces the one before; a wait binds to the record made before it, so recording again
// does not disturb it. An event never recorded (or reset) is complete and nobody waits for it.
#pragma once

#include <cstdint>

#include "device/queue/wait_limit.h"

namespace npu::device {

class Stream;

/// Flag bits of create_event, as the client gives them. 0 means all uses.
enum EventFlag : uint32_t {
  kEventSync = 1,
  kEventCaptureProgress = 2,
  kEventTimeline = 8,
  kEventExternal =
      0x20,  ///< a flag outside of graphs: a record sets it, a reset clears it, a wait waits until it is set
  kEventIpc = 0x40
};

/// A new event. Raises 207000 for kEventIpc, 107000 for kEventExternal with another bit.
void* create_event(uint32_t flags);
/// Ends the handle; queued records and waits go on. All functions below raise 107017 for a bad handle.
void destroy_event(void* event);

/// Whether `event` was made with kEventExternal. Captured streams record its records, waits and resets as tasks.
bool is_external(void* event);

/// Queues the mark that completes the event.
void record_event(void* event, Stream& stream);
/// Work launched on `stream` from now on starts after the last record of `event`. When a task before the record has
/// failed, `stream` takes the failure over (stream.h), also when the record was reached before this call, its stream
/// was destroyed, or somebody has been told.
void wait_event(Stream& stream, void* event);
/// Queues the return to "never recorded"; a record made after this call stays.
void reset_event(void* event, Stream& stream);

/// Whether the last record has been reached. Raises the error of a task that failed before it: each time until the
/// synchronisation of a stream has told it, and at least once for each record.
bool event_complete(void* event);
/// Whether every queued wait on the event is over.
bool event_waits_complete(void* event);
/// Blocks until the last record is reached. Raises 507047 after `limit`, with the task that its stream runs, or the
/// error of a task that failed before it, as event_complete does.
void synchronize_event(void* event, WaitLimit limit = -1);

/// Milliseconds from the completion of `start` to that of `end`. Raises 107006 when one was made without
/// kEventTimeline, not recorded, or not reached yet; 107007 when `end` came first.
float elapsed_ms(void* start, void* end);
/// Microseconds of a steady clock at which the event completed. Raises 107006 as above.
uint64_t event_timestamp_us(void* event);

}  // namespace npu::device
