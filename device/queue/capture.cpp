// SPDX-License-Identifier: Apache-2.0
#include "device/queue/capture.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "device/process/handle.h"
#include "device/process/init.h"
#include "device/queue/event.h"
#include "device/queue/stream_table.h"

namespace npu::device {
namespace {

/// The tasks of a graph. Runs hold it, so that the handle may end before they do.
struct Recording {
  uint32_t id = 0;
  int device = -1;
  std::vector<Task> tasks;
  std::mutex running;  // a task has one state, so one run at a time

  void run();
};

struct Graph {
  std::shared_ptr<Recording> recording;
  bool finished = false;
};
using Table = HandleTable<Graph, HandleKind::kGraph>;

Table& table() {
  static Table& instance = *new Table;
  return instance;
}

/// How many tasks of each captured stream are known to be over at some point. Streams count by their handles, which
/// are never used twice.
using Seen = std::map<const void*, size_t>;

void merge(Seen& into, const Seen& from) {
  for (const auto& [stream, count] : from) into[stream] = std::max(into[stream], count);
}

struct Capture {
  void* graph = nullptr;
  std::shared_ptr<Recording> recording;
  const void* origin = nullptr;  // the stream it began on
  CaptureMode mode = CaptureMode::kGlobal;
  std::thread::id thread;
  std::string problem;  // why a task could not be recorded
  std::map<const void*, Seen> streams;
};
using CapturePtr = std::shared_ptr<Capture>;

/// The captures that go on. Its lock is taken while there is one, and never held while foreign code runs.
struct Board {
  std::mutex mutex;
  std::map<const void*, CapturePtr> of_stream;
  struct Mark {
    CapturePtr capture;
    Seen seen;
  };
  std::map<void*, Mark> of_event;

  CapturePtr find(const Stream& stream) const {
    const auto at = of_stream.find(stream.handle());
    return at == of_stream.end() ? nullptr : at->second;
  }
  void forget(const CapturePtr& capture) {
    std::erase_if(of_stream, [&](const auto& entry) { return entry.second == capture; });
    std::erase_if(of_event, [&](const auto& entry) { return entry.second.capture == capture; });
    if (of_stream.empty()) detail::recorder = nullptr;
  }
  /// Captures whose stream is gone can never end.
  void forget_dead() {
    std::vector<CapturePtr> dead;
    for (const auto& [stream, capture] : of_stream) {
      if (stream == capture->origin && find_stream(stream) == nullptr) dead.push_back(capture);
    }
    for (const auto& capture : dead) forget(capture);
  }
};

Board& board() {
  static Board& instance = *new Board;
  return instance;
}

std::atomic<uint32_t> next_id{1};
constinit thread_local CaptureMode thread_mode = CaptureMode::kGlobal;

void Recording::run() {
  std::lock_guard lock(running);
  for (size_t i = 0; i < tasks.size(); ++i) {
    try {
      tasks[i].body();
    } catch (const Error& error) {
      throw Error(error.code(),
                  fmt::format("task {} of {} of graph {}, {}: {}; the tasks behind it did not run", i + 1, tasks.size(),
                              id, tasks[i].name, error.message()),
                  error.place());
    }
  }
}

/// Whether a stream that joined has work that did not come back to the first one.
bool unjoined(const Capture& capture) {
  const Seen& end = capture.streams.at(capture.origin);
  for (const auto& [stream, seen] : capture.streams) {
    const size_t made = seen.contains(stream) ? seen.at(stream) : 0;
    const auto at = end.find(stream);
    if (made > (at == end.end() ? 0 : at->second)) return true;
  }
  return false;
}

/// Keeps a collective from being recorded: it meets its peers once. So do waits the runtime did not take itself.
bool only_once(const Task& task) { return (task.flags & kTaskMayWait) != 0 && (task.flags & kTaskCallback) == 0; }

/// Takes the task if its stream is captured.
bool record_task(Stream& stream, Task& task) {
  std::lock_guard lock(board().mutex);
  const CapturePtr capture = board().find(stream);
  if (!capture) return false;
  if (only_once(task)) {
    capture->problem = fmt::format("{} meets other ranks or streams, which cannot be recorded", task.name);
    fail(Code::kFeatureUnsupported, "{}; run it outside of the capture", capture->problem);
  }
  task.flags &= ~kTaskAlways;
  capture->recording->tasks.push_back(std::move(task));
  ++capture->streams[stream.handle()][stream.handle()];
  return true;
}

}  // namespace

void begin_capture(Stream& stream, CaptureMode mode) {
  check_usable();
  std::lock_guard lock(board().mutex);
  board().forget_dead();
  if (board().find(stream)) fail(Code::kRtParamInvalid, "stream {} is captured already; end that first", stream.id());
  auto capture = std::make_shared<Capture>();
  capture->recording = std::make_shared<Recording>();
  capture->recording->id = next_id.fetch_add(1);
  capture->recording->device = stream.device();
  capture->graph = table().create([&](Graph& graph, void*) { graph = {capture->recording, false}; });
  capture->origin = stream.handle();
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->streams[stream.handle()];
  board().of_stream[stream.handle()] = capture;
  thread_mode = mode;
  detail::recorder = record_task;
}

void* end_capture(Stream& stream) {
  check_process();
  std::lock_guard lock(board().mutex);
  const CapturePtr capture = board().find(stream);
  if (!capture) fail(Code::kRtParamInvalid, "stream {} is not captured; begin a capture first", stream.id());
  if (capture->origin != stream.handle()) {
    fail(Code::kRtParamInvalid, "the capture of stream {} began on another stream; end it there", stream.id());
  }
  board().forget(capture);
  thread_mode = CaptureMode::kGlobal;
  std::string problem = capture->problem;
  if (problem.empty() && unjoined(*capture)) {
    problem =
        "a stream that joined the capture has work that did not come back: record an event behind it and let the "
        "captured stream wait for that";
  }
  if (!problem.empty()) {
    table().retire(capture->graph);
    table().recycle(capture->graph);
    fail(Code::kRtParamInvalid, "the capture of stream {} gave no graph: {}", stream.id(), problem);
  }
  table().get(capture->graph).finished = true;
  return capture->graph;
}

CaptureInfo capture_info(const Stream& stream) {
  if (!capturing()) return {};
  std::lock_guard lock(board().mutex);
  const CapturePtr capture = board().find(stream);
  if (!capture) return {};
  return {capture->problem.empty() ? CaptureStatus::kActive : CaptureStatus::kInvalidated, capture->graph};
}

CaptureMode exchange_capture_mode(CaptureMode mode) { return std::exchange(thread_mode, mode); }

void execute_graph(void* graph, Stream& stream) {
  check_usable();
  const Graph& found = table().get(graph);
  const std::shared_ptr<Recording> recording = found.recording;
  if (!found.finished) {
    fail(Code::kRtParamInvalid, "graph {} is still recorded; end the capture first", recording->id);
  }
  if (stream.device() != recording->device) {
    fail(Code::kRtParamInvalid, "graph {} was recorded on device {}, stream {} is of device {}", recording->id,
         recording->device, stream.id(), stream.device());
  }
  check_not_captured(stream, "run a graph on");
  Task task{"graph", 0, kTaskKernel, [recording] { recording->run(); }};
  for (const Task& one : recording->tasks) {
    task.cost_ns += one.cost_ns;
    task.flags |= one.flags;
  }
  stream.launch(std::move(task));
}

void destroy_graph(void* graph) {
  check_process();
  if (!table().get(graph).finished) {
    fail(Code::kRtParamInvalid, "the graph is still recorded; end the capture first");
  }
  Graph* found = table().retire(graph);
  if (found == nullptr) refuse_handle(HandleKind::kGraph, graph);
  found->recording.reset();
  table().recycle(graph);
}

uint32_t graph_id(void* graph) { return table().get(graph).recording->id; }

namespace {

const Recording& finished_recording(void* graph) {
  const Graph& found = table().get(graph);
  if (!found.finished) fail(Code::kRtParamInvalid, "the graph is still recorded; end the capture first");
  return *found.recording;
}

}  // namespace

std::vector<std::string> task_names(void* graph) {
  std::vector<std::string> out;
  for (const auto& task : finished_recording(graph).tasks) out.emplace_back(task.name);
  return out;
}

std::string describe_graph(void* graph) {
  const Recording& recording = finished_recording(graph);
  std::string text =
      fmt::format("graph {} of device {}: {} tasks\n", recording.id, recording.device, recording.tasks.size());
  for (size_t i = 0; i < recording.tasks.size(); ++i) text += fmt::format("{:>6} {}\n", i + 1, recording.tasks[i].name);
  return text;
}

bool detail::is_captured(const Stream& stream) {
  std::lock_guard lock(board().mutex);
  return board().find(stream) != nullptr;
}

bool detail::capture_record(Stream& stream, void* event) {
  std::lock_guard lock(board().mutex);
  board().of_event.erase(event);
  const CapturePtr capture = board().find(stream);
  if (!capture) return false;
  board().of_event[event] = {capture, capture->streams[stream.handle()]};
  return true;
}

bool detail::capture_reset(Stream& stream, void* event) {
  std::lock_guard lock(board().mutex);
  if (!board().find(stream)) return false;
  board().of_event.erase(event);
  return true;
}

bool detail::capture_wait(Stream& stream, void* event) {
  {
    std::lock_guard lock(board().mutex);
    const CapturePtr capture = board().find(stream);
    const auto at = board().of_event.find(event);
    if (at != board().of_event.end()) {
      const CapturePtr its = at->second.capture;
      if (capture && capture != its) {
        fail(Code::kRtParamInvalid,
             "the event was recorded within another capture; streams of two captures cannot wait "
             "for each other");
      }
      if (stream.device() != its->recording->device) {
        fail(Code::kRtParamInvalid, "stream {} of device {} cannot join a capture on device {}", stream.id(),
             stream.device(), its->recording->device);
      }
      board().of_stream[stream.handle()] = its;
      merge(its->streams[stream.handle()], at->second.seen);
      return true;
    }
    if (!capture) return false;
  }
  if (!event_complete(event)) {
    fail(Code::kRtParamInvalid,
         "the event was recorded before the capture of stream {} and is not reached; a graph cannot wait for it: "
         "synchronise before the capture",
         stream.id());
  }
  return true;
}

void detail::refuse_unsafe(const char* action) {
  std::lock_guard lock(board().mutex);
  for (const auto& [stream, capture] : board().of_stream) {
    if (capture->mode == CaptureMode::kRelaxed) continue;
    const bool own = capture->thread == std::this_thread::get_id();
    const bool allowed = own ? thread_mode == CaptureMode::kRelaxed
                             : capture->mode != CaptureMode::kGlobal || thread_mode != CaptureMode::kGlobal;
    if (allowed) continue;
    fail(Code::kRtParamInvalid,
         "{} is not safe while a stream of device {} is captured; do it before, or call "
         "aclmdlRICaptureThreadExchangeMode with ACL_MODEL_RI_CAPTURE_MODE_RELAXED in this thread",
         action, capture->recording->device);
  }
}

void detail::refuse_captured(const Stream& stream, const char* action) {
  if (!is_captured(stream)) return;
  fail(Code::kRtParamInvalid, "cannot {} stream {}: it is captured, its work is recorded and not queued", action,
       stream.id());
}

void detail::refuse_captured_event(void* event, const char* action) {
  std::lock_guard lock(board().mutex);
  if (!board().of_event.contains(event)) return;
  fail(Code::kRtParamInvalid, "cannot {} the event: it was recorded within a capture, where nothing runs", action);
}

}  // namespace npu::device
