// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/fact/idle.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace npu::profile {
namespace {

using device::trace::Move;

constexpr uint64_t kNumber = 64;  // bytes: a copy of so few is a result that is looked at, not worked on

/// A gap before anybody asks whether the host had waited.
class Splitter {
 public:
  explicit Splitter(const Host& host) : host_(host) {}

  Gap split(Interval when, const TaskRecord& before, const TaskRecord& next) const {
    Gap gap{.when = when, .next = &next};
    const int64_t queued = next.launched == 0 ? when.end : std::clamp(next.launched, when.start, when.end);
    gap.parts[Cause::kStart] = when.end - queued;
    split_host(gap, {when.start, queued});
    if (is_round_trip(before, next)) merge(gap.parts, {Cause::kPause, Cause::kQueue}, Cause::kRoundTrip);
    return gap;
  }

 private:
  static bool is_round_trip(const TaskRecord& a, const TaskRecord& b) {
    return a.move == Move::kDeviceToHost && b.move == Move::kHostToDevice && a.bytes > kNumber && b.bytes > kNumber;
  }
  static void merge(Parts& parts, std::initializer_list<Cause> from, Cause into) {
    for (const Cause cause : from) parts[into] += std::exchange(parts[cause], 0);
  }

  void split_host(Gap& gap, Interval part) const {
    const Intervals defining = inside(host_.calls(Purpose::kDefine), part);
    Intervals left{part};
    const auto take = [&](const Intervals& what) {
      const int64_t before = length(left);
      left = without(left, what);
      return before - length(left);
    };
    gap.parts[Cause::kCompile] = take(defining) + take(inside(host_.compiling(), part));
    gap.parts[Cause::kHostNode] = take(inside(host_.nodes(), part));
    gap.parts[Cause::kInput] = take(inside(host_.input(), part));
    gap.parts[Cause::kGraph] = take(inside(host_.calls(Purpose::kRun), part));
    gap.parts[Cause::kWait] = take(inside(host_.calls(Purpose::kWait), part));
    gap.parts[Cause::kCopy] = take(inside(host_.calls(Purpose::kCopy), part));
    gap.parts[Cause::kQueue] = length(left) - add_silences(gap, part, defining);
  }

  /// Those that are pauses, together. What comes before the definition of a function is tracing.
  int64_t add_silences(Gap& gap, Interval part, const Intervals& defining) const {
    int64_t sum = 0;
    for (const Interval& silence : without({part}, inside(host_.calls(), part))) {
      if (silence.end - silence.start < host_.pause()) continue;
      const bool traces = !defining.empty() && silence.start < defining.back().end;
      gap.parts[traces ? Cause::kCompile : Cause::kPause] += silence.end - silence.start;
      sum += silence.end - silence.start;
      if (!traces && silence.end - silence.start > gap.pause.end - gap.pause.start) gap.pause = silence;
    }
    return sum;
  }

  const Host& host_;
};

/// How much earlier the host would be, had it not waited for the device. Idle time of that length is due to the wait.
class Debt {
 public:
  explicit Debt(const Host& host) : host_(host), waits_(host.calls(Purpose::kWait)) {
    const Intervals& copies = host.calls(Purpose::kCopy);
    waits_.insert(waits_.end(), copies.begin(), copies.end());
    waits_ = merged(std::move(waits_));
  }

  void add(Interval busy) {
    for (const Interval& wait : inside(waits_, busy)) {
      if (wait.start - last_ > host_.pause()) time_ = 0;  // an earlier one, which has had its effect
      time_ += wait.end - wait.start;
      last_ = wait.end;
    }
  }
  void pay(Parts& parts, Interval gap) {
    for (const Cause cause : {Cause::kStart, Cause::kQueue, Cause::kCopy, Cause::kGraph, Cause::kPause}) {
      // While the host waits, all that it will wait for is queued.
      if (cause == Cause::kStart && length(inside(waits_, gap)) == gap.end - gap.start) continue;
      const int64_t paid = std::min(time_, parts[cause]);
      parts[cause] -= paid, parts[Cause::kWait] += paid;
      time_ -= paid;
    }
  }

 private:
  const Host& host_;
  Intervals waits_;
  int64_t time_ = 0, last_ = 0;
};

void add(Idle& idle, Gap gap) {
  for (size_t i = 0; i < kCauses; ++i) idle.parts.at(i) += gap.parts.at(i);
  idle.gaps.push_back(gap);
}

}  // namespace

std::string_view words_of(Cause cause) {
  switch (cause) {
    case Cause::kPause: return "host calls nothing (batches are made, other Python)";
    case Cause::kWait: return "host had waited for the device";
    case Cause::kQueue: return "host queues the next operator";
    case Cause::kStart: return "queued, not begun";
    case Cause::kCopy: return "host copies to or from the device";
    case Cause::kCompile: return "functions are traced and compiled";
    case Cause::kHostNode: return "graph computes on the host";
    case Cause::kInput: return "graph waits for its next element of data";
    case Cause::kRoundTrip: return "host computes with what it has copied, and copies back";
    case Cause::kGraph: return "engine between nodes of a graph";
  }
  return "";
}

bool keeps_busy(const Trace& trace, const TaskRecord& task) {
  return task.unit != device::trace::Unit::kNone || trace.text(task.type).starts_with("mem");
}

Idle idle_of(const Trace& trace, const Host& host, const std::vector<TaskRecord>& tasks) {
  Idle idle;
  Debt debt(host);
  const Splitter splitter(host);
  const TaskRecord* before = nullptr;
  Interval busy;
  for (const TaskRecord& task : tasks) {
    if (!keeps_busy(trace, task)) continue;
    if (before != nullptr && task.start > busy.end) {
      debt.add(busy);
      Gap gap = splitter.split({busy.end, task.start}, *before, task);
      debt.pay(gap.parts, gap.when);
      add(idle, gap);
    }
    if (before == nullptr || task.start > busy.end) busy.start = task.start;
    busy.end = before == nullptr ? task.end : std::max(busy.end, task.end);
    before = &task;
  }
  return idle;
}

}  // namespace npu::profile
