// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/timeline/track.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "tools/profile/trace/interval.h"

namespace npu::profile {
namespace {

using device::trace::Level;
using device::trace::Unit;

/// Numbers names. Those of records have a place by the number of their text, so that most are found without a look at
/// their letters.
class Names {
 public:
  explicit Names(const Trace& trace) : trace_(trace), known_((trace.texts.size() + 1) * kForms) {}

  Name of(std::string_view text) {
    if (const auto found = by_text_.find(text); found != by_text_.end()) return found->second;
    const std::string& kept = texts_.emplace_back(text);
    return by_text_[kept] = {static_cast<uint32_t>(texts_.size()), kept};
  }
  Name of(const TaskRecord& task) {
    if (is_collective(task)) return of(name_of(trace_, task));
    return known(task.name, kTaskForm, [&] { return name_of(trace_, task); });
  }
  Name of(const CallRecord& call) {
    return known(call.name, form(call), [&] { return name_of(trace_, call); });
  }
  Name titled(const CallRecord& call) {
    return known(call.name, form(call) + 1, [&] {
      return fmt::format("{}@{}", call.level == Level::kRuntime ? "AscendCL" : "Node", name_of(trace_, call));
    });
  }

 private:
  static constexpr size_t kTaskForm = 6, kForms = 7;
  static size_t form(const CallRecord& call) { return 2 * std::min<size_t>(static_cast<size_t>(call.level), 2); }

  template <class Make>
  Name known(uint32_t text, size_t form, Make&& make) {
    Name& place = known_[(text <= trace_.texts.size() ? text : 0) * kForms + form];
    if (place.number == 0) place = of(make());
    return place;
  }

  const Trace& trace_;
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, Name> by_text_;
  std::vector<Name> known_;
};

/// Tracks of a group. What would cross the slice before it goes to a lane of its own.
class Rows {
 public:
  Rows(Printer& printer, uint32_t& tracks, Group group) : printer_(printer), tracks_(tracks), group_(group) {
    printer.group(group_);
  }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  ~Rows() = default;

  const Track& track(uint32_t index, const char* title) { return row(index, title).track; }

  void add(uint32_t index, const char* title, const Slice& slice) {
    Row* place = &row(index, title);
    while (!place->has_room(slice, printer_)) place = &lane_after(*place);
    place->open.push_back(slice.end);
    printer_.begin(place->track, slice);
  }

  /// What is open ends.
  void finish() {
    for (Row& row : rows_)
      for (; !row.open.empty(); row.open.pop_back()) printer_.end(row.track, row.open.back());
  }

 private:
  struct Row {
    Track track;
    std::vector<int64_t> open;  ///< ends of slices, the innermost last
    Row* next = nullptr;        ///< its next lane
    bool has_room(const Slice& slice, Printer& printer) {
      for (; !open.empty() && open.back() <= slice.start; open.pop_back()) printer.end(track, open.back());
      return open.empty() || slice.end <= open.back();
    }
  };

  Row& row(uint32_t index, const char* title) {
    if (last_ != nullptr && last_->track.index == index) return *last_;
    Row*& place = by_index_[index];
    if (place == nullptr) place = &made({tracks_++, &group_, index, 0, fmt::format(fmt::runtime(title), index)});
    return *(last_ = place);
  }
  Row& lane_after(Row& row) {
    const Track& track = row.track;
    if (row.next == nullptr)
      row.next = &made({tracks_++, &group_, track.index, track.lane + 1,
                        fmt::format("{} ({})", track.title.substr(0, track.title.find(" (")), track.lane + 2)});
    return *row.next;
  }
  Row& made(Track track) {
    printer_.track(track);
    return rows_.emplace_back(Row{std::move(track), {}, nullptr});
  }

  Printer& printer_;
  uint32_t& tracks_;  ///< of all groups
  const Group group_;
  std::deque<Row> rows_;
  std::unordered_map<uint32_t, Row*> by_index_;
  Row* last_ = nullptr;
};

class Walk {
 public:
  Walk(const Trace& trace, Printer& printer)
      : trace_(trace), printer_(printer), names_(trace), host_(printer, tracks_, group(Layer::kCann, kHost, "CANN")) {
    for (uint32_t unit = 0; unit < units_.size(); ++unit) {
      TaskRecord task;
      task.unit = Unit{unit};
      units_[unit] = names_.of(unit_name(task));
    }
  }

  void all() {
    add_host();
    add_marks(-1, kHost, "Thread {}");
    for (const auto& [device, tasks] : trace_.tasks) {
      add_hardware(static_cast<uint32_t>(device), tasks);
      add_communication(static_cast<uint32_t>(device), tasks);
      add_overlap(static_cast<uint32_t>(device), tasks);
      add_marks(device, static_cast<uint32_t>(device), "Stream {}");
    }
  }

 private:
  static constexpr const char* kThread = "Thread {}";

  /// A number that is no unit's has the place after the last.
  Name unit(const TaskRecord& task) const {
    return units_[std::min<size_t>(static_cast<size_t>(task.unit), units_.size() - 1)];
  }
  Group group(Layer layer, uint32_t device, const char* title) const { return {trace_.process, layer, device, title}; }

  /// Calls, and what was done for graphs while they ran.
  void add_host() {
    auto work = trace_.graphs.begin();
    for (const CallRecord& call : trace_.calls) {
      for (; work != trace_.graphs.end() && work->start < call.start; ++work) add(*work);
      add(call);
    }
    for (; work != trace_.graphs.end(); ++work) add(*work);
    host_.finish();
  }

  void add(const GraphRecord& work) {
    const Name name = names_.of(name_of(trace_, work));
    const Name reason = names_.of(trace_.text(work.reason)), function = names_.of(trace_.text(work.graph));
    const Fact last = compiles(work) ? Fact{key::kNeed, names_.of(words_of(work.need))}
                                     : Fact{key::kNode, names_.of(trace_.text(work.name))};
    const Fact facts[] = {{key::kThreadId, work.thread},
                          {key::kMode, name},
                          {key::kLevel, model_},
                          {key::kId, name},
                          {key::kFunction, function},
                          {key::kReason, reason},
                          last};
    const std::string title =
        compiles(work) ? fmt::format("Model@{} {}", name.text, function.text) : fmt::format("Model@{}", name.text);
    host_.add(work.thread, kThread, {work.start, work.end, names_.of(title), facts});
  }

  void add(const CallRecord& call) {
    const Name name = names_.of(call);
    const Fact facts[] = {{key::kThreadId, call.thread},
                          {key::kMode, name},
                          {key::kLevel, call.level == Level::kRuntime ? acl_ : node_},
                          {key::kId, name}};
    host_.add(call.thread, kThread, {call.start, call.end, names_.titled(call), facts});
  }

  /// Those of one device, -1: of the host.
  void add_marks(int device, uint32_t place, const char* title) {
    const auto is_here = [&](const MarkRecord& mark) { return mark.device == device; };
    if (std::ranges::none_of(trace_.marks, is_here)) return;
    Rows rows(printer_, tracks_, group(Layer::kMarks, place, "MsTx"));
    for (const MarkRecord& mark : trace_.marks) {
      if (!is_here(mark)) continue;
      const Fact facts[] = {{key::kDomain, names_.of(mark.domain == 0 ? "default" : trace_.text(mark.domain))},
                            {key::kMarkId, mark.number}};
      rows.add(device < 0 ? mark.thread : static_cast<uint32_t>(mark.stream), title,
               {mark.start, mark.end, names_.of(trace_.text(mark.text)), facts});
    }
    rows.finish();
  }

  void add_hardware(uint32_t device, const std::vector<TaskRecord>& tasks) {
    Rows streams(printer_, tracks_, group(Layer::kHardware, device, "Ascend Hardware"));
    for (const TaskRecord& task : tasks) {
      const uint64_t connection = ++connections_;
      if (task.launched != 0) printer_.launch(host_.track(task.launcher, kThread), task.launched, launch_, connection);
      const auto stream = static_cast<uint32_t>(task.stream);
      const Fact facts[] = {{key::kModelId, kNone},          {key::kTaskType, unit(task)}, {key::kStreamId, stream},
                            {key::kTaskId, task.number},     {key::kBatchId, 0},           {key::kSubtaskId, kNone},
                            {key::kConnectionId, connection}};
      streams.add(stream, stream == 0 ? "Graph" : "Stream {}",
                  {task.start, task.end, names_.of(task), facts, task.launched != 0 ? connection : 0});
    }
    streams.finish();
  }

  void add_communication(uint32_t device, const std::vector<TaskRecord>& tasks) {
    if (std::ranges::none_of(tasks, is_collective)) return;
    Rows groups(printer_, tracks_, group(Layer::kCommunication, device, "Communication"));
    for (const TaskRecord& task : tasks) {
      if (!is_collective(task)) continue;
      const Fact facts[] = {{key::kCollectiveModelId, kNone},
                            {key::kSize, task.bytes},
                            {key::kGroup, names_.of(trace_.text(task.graph))},
                            {key::kWaited, static_cast<uint64_t>(std::max<int64_t>(0, task.waited))}};
      groups.add(static_cast<uint32_t>(task.stream), "Group of stream {} Communication",
                 {task.start, task.end, names_.of(task), facts});
    }
    groups.finish();
  }

  void add_overlap(uint32_t device, const std::vector<TaskRecord>& tasks) {
    const Overlap found = overlap_of(tasks);
    Rows rows(printer_, tracks_, group(Layer::kOverlap, device, "Overlap Analysis"));
    const std::pair<const char*, const Intervals*> kinds[] = {
        {"Computing", &found.computing},
        {"Communication", &found.communication},
        {"Communication(Not Overlapped)", &found.communication_alone},
        {"Free", &found.free}};
    for (uint32_t index = 0; const auto& [title, intervals] : kinds) {
      const Name name = names_.of(title);
      const Fact facts[] = {{key::kAnalysisType, name}};
      rows.track(index, title);
      for (const Interval& one : *intervals) rows.add(index, title, {one.start, one.end, name, facts});
      ++index;
    }
    rows.finish();
  }

  const Trace& trace_;
  Printer& printer_;
  Names names_;
  uint32_t tracks_ = 0;
  Rows host_;
  std::array<Name, 6> units_;
  const Name acl_ = names_.of("acl"), model_ = names_.of("model"), node_ = names_.of("node"),
             launch_ = names_.of("launch");
  uint64_t connections_ = 0;  ///< those of Trace::each_task
};

}  // namespace

void print_tracks(const Trace& trace, Printer& printer) { Walk(trace, printer).all(); }

}  // namespace npu::profile
