// SPDX-License-Identifier: Apache-2.0
// Recording the tasks of a stream into a graph, and running the graph again and again. While a stream is captured, what
// is launched on it is kept in place of being run. A stream that waits for an event recorded on a captured stream is
// captured with it; before the end, its work must come back to the first stream by such a wait.
//
// A graph runs its tasks one behind the other in the order they were launched in, which keeps every order that streams
// and events asked for. Addresses stay as they were recorded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/queue/stream.h"

namespace npu::device {

/// Which threads may call what is not safe beside a capture: synchronous copies and fills, and copies of pageable host
/// memory. kGlobal: none, unless it said otherwise for itself; kThreadLocal: all but the capturing one; kRelaxed: all.
enum class CaptureMode { kGlobal = 0, kThreadLocal = 1, kRelaxed = 2 };
enum class CaptureStatus { kNone = 0, kActive = 1, kInvalidated = 2 };

/// Starts a capture of `stream`. Raises 107000 when it is captured already.
void begin_capture(Stream& stream, CaptureMode mode);
/// Ends it and returns the graph. Raises 107000 when this is not the stream it began on, when a stream that joined has
/// work that did not come back, and when a task could not be recorded; the capture is over in the last two cases, too.
void* end_capture(Stream& stream);

struct CaptureInfo {
  CaptureStatus status = CaptureStatus::kNone;
  void* graph = nullptr;  ///< what end_capture will return; may not be run before
};
CaptureInfo capture_info(const Stream& stream);
/// Sets the mode of the calling thread, for as long as captures go on, and returns the one before.
CaptureMode exchange_capture_mode(CaptureMode mode);

/// Queues one run of the graph. Raises 107017 for a bad handle; 107000 for a graph that is still recorded, for a stream
/// of another device, and for a captured stream. A task that fails ends the run; the stream tells which one it was.
void execute_graph(void* graph, Stream& stream);
/// Ends the run of the graph that goes on, before its next task; its stream reports 500001. No effect without one.
void abort_graph(void* graph);
/// Ends the handle and those of its task groups; queued runs go on.
void destroy_graph(void* graph);
/// Number of the graph, from 1 on.
uint32_t graph_id(void* graph);
/// A name for people, empty at first. Both raise 107017 for a bad handle.
void set_graph_name(void* graph, std::string name);
std::string graph_name(void* graph);
/// The tasks of the graph, one a line.
std::string describe_graph(void* graph);
/// The names of its recorded tasks, in order. Raises 107017, 107000 as describe_graph.
std::vector<std::string> task_names(void* graph);

/// Task groups: kernels of a captured stream whose arguments change between runs (lengths that an operator reads from
/// the host). What `stream` records between the two calls is a group; its handle ends with the graph. Both raise 107000
/// for a stream that is not captured, and for calls that do not alternate.
void begin_task_group(Stream& stream);
void* end_task_group(Stream& stream);
/// What is launched on `stream`, which is not captured, between the two calls replaces the tasks of the group, in
/// stream order. The operators must be those of the group, in the same order. begin_update raises 107017 for a bad
/// handle; both raise 107000 for calls that do not alternate, end_update also for other operators: the group then stays
/// as it was.
void begin_update(Stream& stream, void* group);
void end_update(Stream& stream);

namespace detail {
bool capture_record(Stream& stream, void* event);
bool capture_reset(Stream& stream, void* event);
bool capture_wait(Stream& stream, void* event);
bool is_captured(const Stream& stream);
bool is_recorded(const Stream& stream);
bool is_updating(const Stream& stream);
void refuse_unsafe(const char* action);
void refuse_captured(const Stream& stream, const char* action);
void refuse_captured_event(void* event, const char* action);
}  // namespace detail

/// Whether any stream is captured or updates a group: a relaxed load, for everybody who asks on every call.
inline bool capturing() { return detail::recorder.load(std::memory_order_relaxed) != nullptr; }
/// Whether kernels launched on `stream` are recorded for later runs: it is captured, or updates a group.
inline bool captured(const Stream& stream) { return capturing() && detail::is_recorded(stream); }
inline bool updating(const Stream& stream) { return capturing() && detail::is_updating(stream); }

/// The event work of captured streams: true when `event` was recorded, reset or waited for within a capture, and
/// nothing is left to do. A wait raises 107000 for an event of another capture, or recorded before this one and not
/// reached.
inline bool record_in_capture(Stream& stream, void* event) {
  return capturing() && detail::capture_record(stream, event);
}
inline bool reset_in_capture(Stream& stream, void* event) {
  return capturing() && detail::capture_reset(stream, event);
}
inline bool wait_in_capture(Stream& stream, void* event) { return capturing() && detail::capture_wait(stream, event); }

/// Raises 107000 when the thread may not do `action` beside the captures that go on (see CaptureMode).
inline void check_safe(const char* action) {
  if (capturing()) detail::refuse_unsafe(action);
}
/// Raises 107000 when `stream` is captured: `action` asks about work that has not been queued.
inline void check_not_captured(const Stream& stream, const char* action) {
  if (capturing()) detail::refuse_captured(stream, action);
}
inline void check_event_not_captured(void* event, const char* action) {
  if (capturing()) detail::refuse_captured_event(event, action);
}

}  // namespace npu::device
