// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/fact/memory.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <unordered_map>

namespace npu::profile {
namespace {

using device::trace::Level;

constexpr int64_t kSoon = 10'000'000;  // an operator that comes later has nothing to do with the block

/// What each thread calls of operators, in order.
class Operators {
 public:
  explicit Operators(const Trace& trace) : trace_(trace) {
    for (const CallRecord& call : trace.calls)
      if (call.level != Level::kRuntime) threads_[call.thread].push_back(&call);
  }

  std::string after(const MemoryRecord& allocation) const {
    const auto thread = threads_.find(allocation.thread);
    if (thread == threads_.end()) return kOther;
    const auto next = std::ranges::lower_bound(thread->second, allocation.end, {}, &CallRecord::start);
    const bool is_soon = next != thread->second.end() && (*next)->start - allocation.end < kSoon;
    return is_soon ? std::string(trace_.text((*next)->name)) : kOther;
  }
  static constexpr const char* kOther = "no operator soon after";

 private:
  const Trace& trace_;
  std::unordered_map<uint32_t, std::vector<const CallRecord*>> threads_;
};

/// Blocks that are held after `until`.
std::map<uint64_t, const MemoryRecord*> held(const std::vector<const MemoryRecord*>& records, int64_t until) {
  std::map<uint64_t, const MemoryRecord*> blocks;
  for (const MemoryRecord* record : records) {
    if (record->end > until) break;
    if (record->is_free)
      blocks.erase(record->address);
    else
      blocks[record->address] = record;
  }
  return blocks;
}

std::vector<Holder> holders_of(const Trace& trace, const std::vector<const MemoryRecord*>& records,
                               const MemoryUse& use) {
  const Operators operators(trace);
  std::map<std::string, Holder> by_name;
  uint64_t known = 0;
  for (const MemoryRecord* block : held(records, use.at) | std::views::values) {
    Holder& holder = by_name[operators.after(*block)];
    holder.bytes += block->bytes;
    known += block->bytes;
    ++holder.blocks;
  }
  std::vector<Holder> found;
  for (auto& [name, holder] : by_name) found.push_back({name, holder.bytes, holder.blocks});
  if (use.peak > known) found.push_back({"before the records began, or to fill up blocks", use.peak - known, 0});
  std::ranges::stable_sort(found, std::greater<>(), &Holder::bytes);
  return found;
}

}  // namespace

MemoryUse memory_of(const Trace& trace, int device) {
  std::vector<const MemoryRecord*> records;
  for (const MemoryRecord& record : trace.memory)
    if (record.device == device) records.push_back(&record);
  std::ranges::stable_sort(records, {}, &MemoryRecord::end);
  MemoryUse use;
  for (const MemoryRecord* record : records) {
    use.points.push_back({record->end, record->used});
    if (record->used > use.peak) use.peak = record->used, use.at = record->end;
  }
  use.holders = holders_of(trace, records, use);
  return use;
}

}  // namespace npu::profile
