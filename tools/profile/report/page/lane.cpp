// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/page/lane.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "base/json.h"

namespace npu::profile {
namespace {

DrawnSlice slice(int64_t start, int64_t end, std::string name) {
  return {.start = start, .end = end, .name = std::move(name), .busy = end - start, .longest = end - start};
}

void add_threads(std::vector<Lane>& lanes, const Trace& trace) {
  std::map<uint32_t, Lane> threads;
  for (const CallRecord& call : trace.calls) {
    Lane& lane = threads[call.thread];
    if (lane.slices.empty()) lane.title = fmt::format("host {} · thread {}", trace.process, call.thread);
    lane.slices.push_back(slice(call.start, call.end, name_of(trace, call)));
  }
  for (auto& [thread, lane] : threads) lanes.push_back(std::move(lane));
}

/// Compiling, and nodes that the client computes.
void add_graphs(std::vector<Lane>& lanes, const Trace& trace) {
  Lane lane{.title = fmt::format("host {} · for graphs", trace.process), .slices = {}};
  for (const GraphRecord& work : trace.graphs) {
    const std::string_view of = trace.text(compiles(work) ? work.graph : work.type);
    lane.slices.push_back(
        slice(work.start, work.end, fmt::format("{} {}", compiles(work) ? "compile" : "host node", of)));
  }
  if (!lane.slices.empty()) lanes.push_back(std::move(lane));
}

void add_streams(std::vector<Lane>& lanes, const Facts& facts) {
  std::map<int32_t, Lane> streams;
  for (const TaskRecord& task : facts.tasks) {
    Lane& lane = streams[task.stream];
    if (lane.slices.empty())
      lane.title = fmt::format("NPU {} · {}", facts.device,
                               task.stream == 0 ? "default stream" : fmt::format("stream {}", task.stream));
    lane.slices.push_back(slice(task.start, task.end, name_of(*facts.trace, task)));
  }
  for (auto& [stream, lane] : streams) lanes.push_back(std::move(lane));
}

void add_idle(std::vector<Lane>& lanes, const Facts& facts) {
  Lane lane{.title = fmt::format("NPU {} · idle", facts.device), .slices = {}};
  for (const Gap& gap : facts.idle.gaps) {
    const auto cause = static_cast<Cause>(std::ranges::max_element(gap.parts) - gap.parts.begin());
    lane.slices.push_back(slice(gap.when.start, gap.when.end, fmt::format("idle: {}", words_of(cause))));
  }
  if (!lane.slices.empty()) lanes.push_back(std::move(lane));
}

void take_in(DrawnSlice& into, const DrawnSlice& next) {
  into.end = std::max(into.end, next.end);
  into.count += next.count, into.busy += next.busy;
  if (next.longest > into.longest) into.longest = next.longest, into.name = next.name;
}

/// Slices shorter than `resolution`, and less than it apart, as one.
std::vector<DrawnSlice> coarser(const std::vector<DrawnSlice>& slices, int64_t resolution) {
  std::vector<DrawnSlice> out;
  for (const DrawnSlice& one : slices) {
    const bool is_short = one.end - one.start < resolution;
    if (!out.empty() && is_short && out.back().longest < resolution && one.start - out.back().end < resolution)
      take_in(out.back(), one);
    else
      out.push_back(one);
  }
  return out;
}

size_t size_of(const std::vector<Lane>& lanes) {
  size_t size = 0;
  for (const Lane& lane : lanes) size += lane.slices.size();
  return size;
}

}  // namespace

std::vector<Lane> lanes_of(const std::vector<Trace>& traces, const std::vector<Facts>& all, size_t most) {
  std::vector<Lane> lanes;
  for (const Trace& trace : traces) {
    add_threads(lanes, trace);
    add_graphs(lanes, trace);
  }
  for (const Facts& facts : all) {
    add_idle(lanes, facts);
    add_streams(lanes, facts);
  }
  constexpr int64_t kFinest = 1000, kCoarsest = int64_t{1} << 50;
  for (int64_t resolution = kFinest; size_of(lanes) > most && resolution < kCoarsest; resolution *= 2)
    for (Lane& lane : lanes) lane.slices = coarser(lane.slices, resolution);
  return lanes;
}

Json json_of(const std::vector<Lane>& lanes) {
  int64_t begin = std::numeric_limits<int64_t>::max();
  for (const Lane& lane : lanes)
    if (!lane.slices.empty()) begin = std::min(begin, lane.slices.front().start);
  std::map<std::string, size_t> numbers;
  Json names = Json::array(), shown = Json::array();
  for (const Lane& lane : lanes) {
    Json slices = Json::array();
    for (const DrawnSlice& one : lane.slices) {
      const auto [name, is_new] = numbers.emplace(one.name, numbers.size());
      if (is_new) names.push_back(one.name);
      for (const int64_t value : {one.start - begin, one.end - one.start, static_cast<int64_t>(name->second),
                                  static_cast<int64_t>(one.count), one.busy})
        slices.push_back(value);
    }
    shown.push_back({{"title", lane.title}, {"slices", std::move(slices)}});
  }
  return {{"names", std::move(names)}, {"lanes", std::move(shown)}};
}

}  // namespace npu::profile
