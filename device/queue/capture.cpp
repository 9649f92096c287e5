// SPDX-License-Identifier: Apache-2.0
#include "device/queue/capture.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "device/process/handle.h"
#include "device/process/init.h"
#include "device/queue/event.h"
#include "device/queue/recording.h"
#include "device/queue/stream_table.h"

namespace npu::device {
namespace {

/// Tasks of a graph that can be replaced together.
struct TaskGroup {
  std::shared_ptr<Recording> recording;
  std::vector<size_t> places;  // of its tasks
};
using TaskGroupPtr = std::shared_ptr<TaskGroup>;
using GroupTable = HandleTable<TaskGroupPtr, HandleKind::kTaskGroup>;

GroupTable& groups() {
  static GroupTable& instance = *new GroupTable;
  return instance;
}

struct Graph {
  std::shared_ptr<Recording> recording;
  bool finished = false;
  std::vector<void*> groups;  // handles that end with it
};
using Table = HandleTable<Graph, HandleKind::kGraph>;

Table& table() {
  static Table& instance = *new Table;
  return instance;
}

void end_graph(void* handle) {
  Graph* graph = table().retire(handle);
  if (graph == nullptr) refuse_handle(HandleKind::kGraph, handle);
  for (void* group : std::exchange(graph->groups, {})) {
    if (TaskGroupPtr* found = groups().retire(group)) found->reset();
    groups().recycle(group);
  }
  graph->recording.reset();
  table().recycle(handle);
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
  std::map<const void*, TaskGroupPtr> open_groups;  // by stream
};
using CapturePtr = std::shared_ptr<Capture>;

/// New tasks for a group, launched on a stream that is not captured.
struct Update {
  TaskGroupPtr group;
  std::vector<Task> tasks;
};

/// The captures that go on. Its lock is taken while there is one, and never held while foreign code runs.
struct Board {
  std::mutex mutex;
  std::map<const void*, CapturePtr> of_stream;
  struct Mark {
    CapturePtr capture;
    Seen seen;
  };
  std::map<void*, Mark> of_event;
  std::map<const void*, Update> updates;  // by stream

  CapturePtr find(const Stream& stream) const {
    const auto at = of_stream.find(stream.handle());
    return at == of_stream.end() ? nullptr : at->second;
  }
  void forget(const CapturePtr& capture) {
    std::erase_if(of_stream, [&](const auto& entry) { return entry.second == capture; });
    std::erase_if(of_event, [&](const auto& entry) { return entry.second.capture == capture; });
    stop_when_idle();
  }
  void stop_when_idle() {
    if (of_stream.empty() && updates.empty()) detail::recorder = nullptr;
  }
  /// Captures and updates whose stream is gone can never end.
  void forget_dead() {
    std::erase_if(updates, [](const auto& entry) { return find_stream(entry.first) == nullptr; });
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
bool only_once(const Task& task) {
  return (task.flags & kTaskMayWait) != 0 && (task.flags & (kTaskCallback | kTaskRepeats)) == 0;
}

/// What belongs to a group: kernels, but no waits, callbacks and marks of the runtime.
bool is_kernel(const Task& task) { return (task.flags & (kTaskMayWait | kTaskCallback | kTaskAlways)) == 0; }

/// Takes the task if its stream is captured, or updates a group.
bool record_task(Stream& stream, Task& task) {
  std::lock_guard lock(board().mutex);
  if (const auto update = board().updates.find(stream.handle()); update != board().updates.end()) {
    if (!is_kernel(task)) return false;
    const size_t most = update->second.group->places.size();
    if (update->second.tasks.size() >= most)
      fail(Code::kRtParamInvalid, "the task group has {} tasks, {} would be one more; launch the same operators again",
           most, task.name);
    update->second.tasks.push_back(std::move(task));
    return true;
  }
  const CapturePtr capture = board().find(stream);
  if (!capture) return false;
  if (only_once(task)) {
    capture->problem = fmt::format("{} meets other ranks or streams, which cannot be recorded", task.name);
    fail(Code::kFeatureUnsupported, "{}; run it outside of the capture", capture->problem);
  }
  const bool kernel = is_kernel(task);
  task.flags &= ~kTaskAlways;
  const size_t place = capture->recording->add(std::move(task));
  if (const auto group = capture->open_groups.find(stream.handle()); kernel && group != capture->open_groups.end())
    group->second->places.push_back(place);
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
  capture->recording = std::make_shared<Recording>(next_id.fetch_add(1), stream.device());
  capture->graph = table().create([&](Graph& graph, void*) { graph = {capture->recording, false, {}}; });
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
  if (problem.empty() && !capture->open_groups.empty())
    problem = "a task group is open; call aclmdlRICaptureTaskGrpEnd before the end of the capture";
  if (!problem.empty()) {
    end_graph(capture->graph);
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
  Task task = recording->summary();
  task.name = "graph";
  task.body = [recording] { recording->run(); };
  stream.launch(std::move(task));
}

void destroy_graph(void* graph) {
  check_process();
  if (!table().get(graph).finished) {
    fail(Code::kRtParamInvalid, "the graph is still recorded; end the capture first");
  }
  end_graph(graph);
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
  const Recording& recording = finished_recording(graph);
  for (size_t i = 0; i < recording.size(); ++i) out.emplace_back(recording.task_name(i));
  return out;
}

std::string describe_graph(void* graph) {
  const Recording& recording = finished_recording(graph);
  std::string text = fmt::format("graph {} of device {}: {} tasks\n", recording.id, recording.device, recording.size());
  for (size_t i = 0; i < recording.size(); ++i) text += fmt::format("{:>6} {}\n", i + 1, recording.task_name(i));
  return text;
}

void abort_graph(void* graph) {
  check_process();
  const Graph& found = table().get(graph);
  if (!found.finished) fail(Code::kRtParamInvalid, "the graph is still recorded; end the capture first");
  found.recording->abort();
}

void set_graph_name(void* graph, std::string name) { table().get(graph).recording->set_name(std::move(name)); }
std::string graph_name(void* graph) { return table().get(graph).recording->name(); }

void begin_task_group(Stream& stream) {
  check_process();
  std::lock_guard lock(board().mutex);
  const CapturePtr capture = board().find(stream);
  if (!capture)
    fail(Code::kRtParamInvalid, "stream {} is not captured; a task group is part of a capture", stream.id());
  auto group = std::make_shared<TaskGroup>(TaskGroup{capture->recording, {}});
  if (!capture->open_groups.emplace(stream.handle(), std::move(group)).second)
    fail(Code::kRtParamInvalid, "stream {} has an open task group; call aclmdlRICaptureTaskGrpEnd first", stream.id());
}

void* end_task_group(Stream& stream) {
  check_process();
  std::lock_guard lock(board().mutex);
  const CapturePtr capture = board().find(stream);
  const auto open = capture ? capture->open_groups.find(stream.handle()) : decltype(capture->open_groups.begin()){};
  if (!capture || open == capture->open_groups.end())
    fail(Code::kRtParamInvalid, "stream {} has no open task group; call aclmdlRICaptureTaskGrpBegin first",
         stream.id());
  TaskGroupPtr group = std::move(open->second);
  capture->open_groups.erase(open);
  capture->recording->set_replaceable(group->places);
  void* handle = groups().create([&](TaskGroupPtr& slot, void*) { slot = std::move(group); });
  table().get(capture->graph).groups.push_back(handle);
  return handle;
}

void begin_update(Stream& stream, void* handle) {
  check_usable();
  std::lock_guard lock(board().mutex);
  board().forget_dead();
  const TaskGroupPtr group = groups().get(handle);
  if (board().find(stream))
    fail(Code::kRtParamInvalid, "stream {} is captured; tasks are updated on a stream that is not", stream.id());
  for (const auto& [captured, capture] : board().of_stream) {
    if (capture->recording == group->recording)
      fail(Code::kRtParamInvalid, "graph {} is still recorded; end the capture before its tasks are updated",
           group->recording->id);
  }
  if (stream.device() != group->recording->device) {
    fail(Code::kRtParamInvalid, "the task group was recorded on device {}, stream {} is of device {}",
         group->recording->device, stream.id(), stream.device());
  }
  if (!board().updates.emplace(stream.handle(), Update{group, {}}).second)
    fail(Code::kRtParamInvalid, "stream {} updates a task group already; call aclmdlRICaptureTaskUpdateEnd first",
         stream.id());
  detail::recorder = record_task;
}

namespace {

Update take_update(Stream& stream) {
  std::lock_guard lock(board().mutex);
  const auto at = board().updates.find(stream.handle());
  if (at == board().updates.end())
    fail(Code::kRtParamInvalid, "stream {} updates no task group; call aclmdlRICaptureTaskUpdateBegin first",
         stream.id());
  Update update = std::move(at->second);
  board().updates.erase(at);
  board().stop_when_idle();
  return update;
}

/// The update must launch what the group recorded: the same operators in the same order.
void check_update(const Update& update) {
  const Recording& recording = *update.group->recording;
  const auto& places = update.group->places;
  if (update.tasks.size() != places.size())
    fail(Code::kRtParamInvalid, "the task group has {} tasks, the update {}; launch the same operators again",
         places.size(), update.tasks.size());
  for (size_t i = 0; i < places.size(); ++i) {
    const std::string_view recorded = recording.task_name(places[i]);
    if (recorded != update.tasks[i].name)
      fail(Code::kRtParamInvalid, "task {} of the group is {}, the update has {}; launch the same operators again",
           i + 1, recorded, update.tasks[i].name);
  }
}

}  // namespace

void end_update(Stream& stream) {
  check_process();
  Update update = take_update(stream);
  check_update(update);
  stream.launch(
      {"task update", 0, kTaskKernel, [group = std::move(update.group), tasks = std::move(update.tasks)]() mutable {
         group->recording->replace(group->places, std::move(tasks));
       }});
}

bool detail::is_recorded(const Stream& stream) {
  std::lock_guard lock(board().mutex);
  return board().find(stream) != nullptr || board().updates.contains(stream.handle());
}

bool detail::is_updating(const Stream& stream) {
  std::lock_guard lock(board().mutex);
  return board().updates.contains(stream.handle());
}

bool detail::is_captured(const Stream& stream) {
  std::lock_guard lock(board().mutex);
  return board().find(stream) != nullptr;
}

// External events are no marks of a capture: their records, waits and resets are recorded as tasks.
bool detail::capture_record(Stream& stream, void* event) {
  if (is_external(event)) return false;
  std::lock_guard lock(board().mutex);
  board().of_event.erase(event);
  const CapturePtr capture = board().find(stream);
  if (!capture) return false;
  board().of_event[event] = {capture, capture->streams[stream.handle()]};
  return true;
}

bool detail::capture_reset(Stream& stream, void* event) {
  if (is_external(event)) return false;
  std::lock_guard lock(board().mutex);
  if (!board().find(stream)) return false;
  board().of_event.erase(event);
  return true;
}

bool detail::capture_wait(Stream& stream, void* event) {
  if (is_external(event)) return false;
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
