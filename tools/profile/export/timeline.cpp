// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/export/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "tools/profile/export/interval.h"

namespace npu::profile {
namespace {

using device::trace::Level;

/// Layers of the vendor's timelines: part of a process' number there, and the order of its rows.
enum class Layer : uint32_t { kCann = 7, kHardware = 14, kCommunication = 17, kOverlap = 19 };
constexpr uint32_t kHost = 31;

std::string json(std::string_view text) {
  return nlohmann::json(std::string(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

class Writer {
 public:
  Writer(const Trace& trace, std::ostream& out) : trace_(trace), out_(out) {}

  void write() {
    out_ << '[';
    write_host();
    for (const auto& [device, tasks] : trace_.tasks) write_device(static_cast<uint32_t>(device), tasks);
    out_ << "]";
  }

 private:
  uint32_t process(Layer layer, uint32_t device) const {
    return trace_.process << 10 | static_cast<uint32_t>(layer) << 5 | device;
  }

  template <class... Values>
  void event(fmt::format_string<Values...> format, Values&&... values) {
    if (!std::exchange(first_, false)) line_ += ",\n";
    fmt::format_to(std::back_inserter(line_), format, std::forward<Values>(values)...);
    constexpr size_t kPiece = 1 << 16;
    if (line_.size() > kPiece) flush();
  }
  void flush() {
    out_ << line_;
    line_.clear();
  }

  void name(std::string_view what, std::string_view key, uint32_t pid, uint64_t tid, const std::string& value) {
    event(R"({{"name":"{}","pid":{},"tid":{},"ph":"M","args":{{"{}":{}}}}})", what, pid, tid, key, value);
  }
  void describe_process(Layer layer, uint32_t device, std::string_view title) {
    const uint32_t pid = process(layer, device);
    name("process_name", "name", pid, 0, json(title));
    name("process_labels", "labels", pid, 0, json(device == kHost ? "CPU" : fmt::format("NPU {}", device)));
    name("process_sort_index", "sort_index", pid, 0, fmt::format("{}", static_cast<uint32_t>(layer)));
  }
  void describe_row(uint32_t pid, uint64_t tid, std::string_view title) {
    name("thread_name", "name", pid, tid, json(title));
    name("thread_sort_index", "sort_index", pid, tid, fmt::format("{}", tid));
  }

  void slice(std::string_view title, uint32_t pid, uint64_t tid, int64_t start, int64_t end, std::string_view args) {
    event(R"({{"name":{},"pid":{},"tid":{},"ts":"{}","dur":{},"args":{{{}}},"ph":"X"}})", json(title), pid, tid,
          microseconds(start), microseconds(end - start), args);
  }

  void write_host() {
    describe_process(Layer::kCann, kHost, "CANN");
    const uint32_t pid = process(Layer::kCann, kHost);
    std::set<uint32_t> threads;
    for (const CallRecord& call : trace_.calls) threads.insert(call.thread);
    for (const auto& [device, tasks] : trace_.tasks)
      for (const TaskRecord& task : tasks)
        if (task.launched != 0) threads.insert(task.launcher);
    for (const uint32_t thread : threads) describe_row(pid, thread, fmt::format("Thread {}", thread));
    for (const CallRecord& call : trace_.calls) {
      const std::string title = name_of(trace_, call);
      const std::string_view level = call.level == Level::kRuntime ? "acl" : "node";
      slice(fmt::format("{}@{}", call.level == Level::kRuntime ? "AscendCL" : "Node", title), pid, call.thread,
            call.start, call.end,
            fmt::format(R"("Thread Id":{},"Mode":"{}","level":"{}","id":{})", call.thread, title, level, json(title)));
    }
    flush();
  }

  void write_device(uint32_t device, const std::vector<TaskRecord>& tasks) {
    describe_process(Layer::kHardware, device, "Ascend Hardware");
    const uint32_t pid = process(Layer::kHardware, device);
    std::set<int32_t> streams;
    for (const TaskRecord& task : tasks) streams.insert(task.stream);
    for (const int32_t stream : streams)
      describe_row(pid, static_cast<uint64_t>(stream), stream == 0 ? "Graph" : fmt::format("Stream {}", stream));
    for (const TaskRecord& task : tasks) write_task(pid, task);
    write_communication(device, tasks);
    write_overlap(device, tasks);
    flush();
  }

  void write_task(uint32_t pid, const TaskRecord& task) {
    const uint64_t flow = ++flows_;
    slice(
        name_of(trace_, task), pid, static_cast<uint64_t>(task.stream), task.start, task.end,
        fmt::format(
            R"("Model Id":4294967295,"Task Type":"{}","Stream Id":{},"Task Id":{},"Batch Id":0,"Subtask Id":4294967295,"connection_id":{})",
            unit_name(task), task.stream, task.number, flow));
    if (task.launched == 0) return;
    event(R"({{"name":"HostToDevice{}","ph":"s","cat":"HostToDevice","id":"{}","pid":{},"tid":{},"ts":"{}"}})", flow,
          flow, process(Layer::kCann, kHost), task.launcher, microseconds(task.launched));
    event(R"({{"name":"HostToDevice{}","ph":"f","cat":"HostToDevice","id":"{}","pid":{},"tid":{},"ts":"{}","bp":"e"}})",
          flow, flow, pid, task.stream, microseconds(task.start));
  }

  void write_communication(uint32_t device, const std::vector<TaskRecord>& tasks) {
    if (std::ranges::none_of(tasks, is_collective)) return;
    describe_process(Layer::kCommunication, device, "Communication");
    const uint32_t pid = process(Layer::kCommunication, device);
    std::set<int32_t> streams;
    for (const TaskRecord& task : tasks) {
      if (!is_collective(task)) continue;
      if (streams.insert(task.stream).second)
        describe_row(pid, static_cast<uint64_t>(task.stream),
                     fmt::format("Group of stream {} Communication", task.stream));
      slice(name_of(trace_, task), pid, static_cast<uint64_t>(task.stream), task.start, task.end,
            fmt::format(R"("model id":4294967295,"size":{})", task.bytes));
    }
  }

  void write_overlap(uint32_t device, const std::vector<TaskRecord>& tasks) {
    const Overlap found = overlap_of(tasks);
    describe_process(Layer::kOverlap, device, "Overlap Analysis");
    const uint32_t pid = process(Layer::kOverlap, device);
    const std::pair<const char*, const Intervals*> rows[] = {
        {"Computing", &found.computing},
        {"Communication", &found.communication},
        {"Communication(Not Overlapped)", &found.communication_alone},
        {"Free", &found.free}};
    for (uint64_t row = 0; row < std::size(rows); ++row) {
      describe_row(pid, row, rows[row].first);
      for (const Interval& one : *rows[row].second)
        slice(rows[row].first, pid, row, one.start, one.end, fmt::format(R"("analysis_type":"{}")", rows[row].first));
    }
  }

  const Trace& trace_;
  std::ostream& out_;
  std::string line_;
  bool first_ = true;
  uint64_t flows_ = 0;  ///< the connections of Trace::each_task
};

}  // namespace

void write_timeline(const Trace& trace, std::ostream& out) { Writer(trace, out).write(); }

}  // namespace npu::profile
