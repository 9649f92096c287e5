// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/fact/host.h"

#include <algorithm>
#include <utility>

namespace npu::profile {
namespace {

// Between two operators Python needs some tens of microseconds; what takes longer than the second is one in any case.
constexpr int64_t kShortestPause = 300'000, kSurePause = 1'000'000;
constexpr int64_t kUnusual = 20;  // times what is usual

int64_t usual_silence(const Intervals& calls) {
  std::vector<int64_t> between;
  for (size_t i = 1; i < calls.size(); ++i) between.push_back(calls[i].start - calls[i - 1].end);
  if (between.empty()) return 0;
  const auto middle = between.begin() + static_cast<ptrdiff_t>(between.size() / 2);
  std::ranges::nth_element(between, middle);
  return *middle;
}

}  // namespace

Intervals inside(const Intervals& all, Interval part) {
  Intervals found;
  auto at = std::ranges::upper_bound(all, part.start, {}, &Interval::end);
  for (; at != all.end() && at->start < part.end; ++at)
    found.push_back({std::max(at->start, part.start), std::min(at->end, part.end)});
  return found;
}

int64_t length(const Intervals& all) {
  int64_t sum = 0;
  for (const Interval& one : all) sum += one.end - one.start;
  return sum;
}

bool brings_data(const Trace& trace, const GraphRecord& work) {
  const std::string_view type = trace.text(work.type);
  const auto has = [&](std::string_view part) { return type.find(part) != std::string_view::npos; };
  return has("Iterator") || has("Dataset") || type.starts_with("Optional");
}

Host::Host(const Trace& trace) {
  for (const GraphRecord& work : trace.graphs) {
    Intervals& kind = compiles(work) ? compiling_ : brings_data(trace, work) ? input_ : nodes_;
    kind.push_back({work.start, work.end});
  }
  for (Intervals* kind : {&compiling_, &nodes_, &input_}) *kind = merged(std::move(*kind));
  for (const CallRecord& call : trace.calls) {
    calls_.push_back({call.start, call.end});
    by_purpose_[static_cast<size_t>(purpose_of(trace, call))].push_back({call.start, call.end});
  }
  calls_ = merged(std::move(calls_));
  for (Intervals& some : by_purpose_) some = merged(std::move(some));
  pause_ = std::clamp(kUnusual * usual_silence(calls_), kShortestPause, kSurePause);
}

}  // namespace npu::profile
