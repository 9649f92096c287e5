// SPDX-License-Identifier: Apache-2.0
// A run as it would have been recorded, in memory. Times are microseconds.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "tools/profile/report/fact/facts.h"

namespace npu::profile {

using device::trace::HostWork;
using device::trace::Level;
using device::trace::Need;
using device::trace::Unit;

struct Recorded {
  static constexpr int64_t kLongAgo = 1;

  Trace trace;

  explicit Recorded(uint32_t process = 77) { trace.process = process; }

  uint32_t text(std::string_view text) {
    const auto known = std::ranges::find(trace.texts, text);
    if (known != trace.texts.end()) return static_cast<uint32_t>(known - trace.texts.begin() + 1);
    trace.texts.emplace_back(text);
    return static_cast<uint32_t>(trace.texts.size());
  }
  void call(std::string_view name, int64_t start, int64_t end, Level level = Level::kRuntime) {
    trace.calls.push_back({start * 1000, end * 1000, 1, text(name), level, 0});
  }
  GraphRecord& work(HostWork kind, int64_t start, int64_t end, std::string_view graph) {
    GraphRecord made;
    made.start = start * 1000, made.end = end * 1000, made.thread = 1, made.device = device;
    made.work = kind, made.graph = text(graph);
    return trace.graphs.emplace_back(made);
  }
  /// Queued when it starts, unless `launched` says when.
  TaskRecord& task(std::string_view type, int64_t start, int64_t end, int64_t launched = -1,
                   Unit unit = Unit::kVector) {
    TaskRecord made;
    made.start = start * 1000, made.end = end * 1000, made.launched = (launched < 0 ? start : launched) * 1000;
    made.type = text(type), made.name = made.type, made.unit = unit, made.stream = 1, made.launcher = 1;
    return trace.tasks[device].emplace_back(made);
  }
  /// One that reads two tensors of a shape and writes a third.
  TaskRecord& elementwise(std::string_view type, int64_t start, int64_t end, std::string_view shape) {
    TaskRecord& made = task(type, start, end, kLongAgo);
    const std::string one(shape);
    made.inputs = text(one + ";" + one + "|FLOAT;FLOAT|ND;ND"), made.outputs = text(one + "|FLOAT|ND");
    made.bytes = 3000;
    return made;
  }

  /// From `time` on the thread works for `path`.
  void module(std::string_view path, int64_t time, Phase phase = Phase::kForward, uint32_t thread = 1) {
    MarkRecord mark;
    mark.start = mark.end = time * 1000, mark.thread = thread, mark.number = static_cast<uint64_t>(phase);
    mark.text = path.empty() ? 0 : text(path);
    trace.modules.push_back(mark);
  }
  /// A node of a graph, by the name that the client gave it.
  TaskRecord& node(std::string_view name, std::string_view type, int64_t start, int64_t end, uint32_t step = 0) {
    TaskRecord& made = task(type, start, end);
    made.name = text(name), made.graph = text("step"), made.step = step, made.stream = 0;
    return made;
  }

  int device = 0;
};

}  // namespace npu::profile
