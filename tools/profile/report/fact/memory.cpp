// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/fact/memory.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

namespace npu::profile {
namespace {

using Alive = std::unordered_map<uint64_t, const MemoryRecord*>;

/// What is allocated when `last` has happened, by address.
Alive alive_at(const std::vector<const MemoryRecord*>& records, const MemoryRecord* last) {
  Alive alive;
  for (const MemoryRecord* record : records) {
    if (record->is_free)
      alive.erase(record->address);
    else
      alive[record->address] = record;
    if (record == last) break;
  }
  return alive;
}

/// The call that was made then; their numbers wrap.
std::string call_of(const Trace& trace, const MemoryRecord& record) {
  auto at = std::ranges::upper_bound(trace.calls, record.start, {}, &CallRecord::start);
  while (at != trace.calls.begin())
    if (--at; at->number == record.call && at->end >= record.start) return name_of(trace, *at);
  return "";
}

}  // namespace

Peak peak_of(const Trace& trace, int device) {
  std::vector<const MemoryRecord*> records;
  for (const MemoryRecord& record : trace.memory)
    if (record.device == device) records.push_back(&record);
  Peak peak;
  if (records.empty()) return peak;
  const MemoryRecord* most = *std::ranges::max_element(records, {}, &MemoryRecord::used);
  peak.bytes = most->used, peak.time = most->end;
  peak.allocations = static_cast<size_t>(std::ranges::count(records, false, &MemoryRecord::is_free));
  for (const auto& [address, record] : alive_at(records, most))
    peak.blocks.push_back({record->bytes, record->start, call_of(trace, *record)});
  std::ranges::sort(peak.blocks, {}, &Block::time);
  std::ranges::stable_sort(peak.blocks, std::greater<>(), &Block::bytes);
  return peak;
}

}  // namespace npu::profile
