// SPDX-License-Identifier: Apache-2.0
#include "graph/run/plan_family.h"

#include <algorithm>

#include "graph/run/plan_entry.h"

namespace npu::graph {
namespace {

constexpr int64_t kSmallFrames = 64 << 20;  // bytes of waiting frames that are always allowed
constexpr int64_t kLargeFrames = 4;         // else as many times the largest of them

}  // namespace

std::vector<std::shared_ptr<PlanEntry>> PlanFamily::living() {
  std::erase_if(entries_, [](const auto& entry) { return entry.expired(); });
  std::vector<std::shared_ptr<PlanEntry>> all;
  for (const auto& weak : entries_)
    if (auto entry = weak.lock()) all.push_back(std::move(entry));
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a->used > b->used; });
  return all;
}

void PlanFamily::make_room(const std::shared_ptr<PlanEntry>& entry) {
  std::vector<std::shared_ptr<PlanEntry>> all;
  {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(entry->in_family, true)) entries_.push_back(entry);
    all = living();
  }
  int64_t largest = 0, held = 0;
  size_t depth = 0, kept = 0;
  for (const auto& one : all) {
    largest = std::max(largest, one->plan->arena_bytes);
    depth = std::max(depth, one->depth);
  }
  for (const auto& one : all) {
    held += one->plan->arena_bytes;
    const std::shared_ptr<PlanOwner> owner = one->owner.lock();
    if (one == entry || !owner) continue;
    if (++kept >= PlanOwner::kMostPlans * (depth + 1))
      owner->drop(*one);
    else if (held > std::max(kSmallFrames, kLargeFrames * largest))
      owner->drop_frames(*one);
  }
}

size_t PlanFamily::size() {
  const std::lock_guard lock(mutex_);
  return living().size();
}

}  // namespace npu::graph
