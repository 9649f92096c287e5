// SPDX-License-Identifier: Apache-2.0
#include "comm/rendezvous/world.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>

#include "comm/rendezvous/join.h"

namespace npu::comm {
namespace {

struct World {
  std::mutex mutex;
  std::map<std::string, NamedGroup> groups;
  uint64_t next_id = 1;  // of a group: all ranks create them in the same order
};

World& world() {
  static World& instance = *new World;
  return instance;
}

void check_joined() {
  if (!world().groups.contains(kWorldName))
    fault(Result::kUnavailable, "the ranks have not been joined yet; do that before groups are asked for");
}

void check_name(const std::string& name) {
  if (name.empty() || name.size() > 127)
    fault(Result::kParameter, "EI0003: the group's name has {} bytes; it has 1 to 127", name.size());
  if (name == kWorldName) fault(Result::kParameter, "EI0003: {} is the group of all ranks", kWorldName);
}

}  // namespace

void join_world() {
  const std::lock_guard lock(world().mutex);
  if (world().groups.contains(kWorldName)) return;
  NamedGroup all{join_environment({kWorldName, -1}), {}};
  all.world_ranks.resize(all.communicator->size());
  std::iota(all.world_ranks.begin(), all.world_ranks.end(), 0u);
  world().groups.emplace(kWorldName, std::move(all));
}

void leave_world() {
  const std::lock_guard lock(world().mutex);
  for (auto& [name, group] : world().groups) group.communicator->leave();
  world().groups.clear();
}

void create_group(const std::string& name, std::span<const uint32_t> ranks) {
  const std::lock_guard lock(world().mutex);
  check_joined();
  check_name(name);
  if (world().groups.contains(name)) fault(Result::kParameter, "EI0003: there is a group '{}' already", name);
  if (ranks.empty() || ranks.size() > kMostGroupRanks)
    fault(Result::kParameter, "EI0003: group '{}' has {} ranks; it has 1 to {}", name, ranks.size(), kMostGroupRanks);
  const Communicator& all = *world().groups.at(kWorldName).communicator;
  const uint64_t id = world().next_id++;
  const auto own = std::ranges::find(ranks, all.rank());
  if (own == ranks.end())
    fault(Result::kParameter, "EI0003: rank {} is not among the ranks of group '{}'", all.rank(), name);
  const auto rank = static_cast<uint32_t>(own - ranks.begin());
  world().groups.emplace(name, NamedGroup{join_part(all, ranks, id, rank, {name, -1}), {ranks.begin(), ranks.end()}});
}

void destroy_group(const std::string& name) {
  const std::lock_guard lock(world().mutex);
  check_joined();
  check_name(name);
  const auto found = world().groups.find(name);
  if (found == world().groups.end()) fault(Result::kNotFound, "EI0003: there is no group '{}'", name);
  found->second.communicator->leave();
  world().groups.erase(found);
}

NamedGroup group_named(const std::string& name) {
  const std::lock_guard lock(world().mutex);
  check_joined();
  const auto found = world().groups.find(name);
  if (found == world().groups.end()) fault(Result::kNotFound, "EI0003: there is no group '{}'", name);
  return found->second;
}

}  // namespace npu::comm
