// SPDX-License-Identifier: Apache-2.0
// All ranks of the job, and groups of them by name: what hccl.manage.api speaks of. The world is joined once a process,
// as its environment says (rendezvous/rank_source.h).
#pragma once

#include <memory>
#include <span>
#include <string>

#include "comm/communicator/communicator.h"

namespace npu::comm {

inline constexpr char kWorldName[] = "hccl_world_group";
inline constexpr uint32_t kMostGroupRanks = 4096;

/// Joins with the thread's device; returns at once when that was done before. Raises kNotFound when the environment
/// names no rank, and all that joining raises.
void join_world();
/// Leaves all groups and the world.
void leave_world();

/// A group of ranks of the world, which all of them create in the same order. Raises kParameter for a name of more than
/// 127 bytes, the world's or one that is used, for ranks that are not in the world or stand twice; kUnavailable before
/// join_world(). A rank outside of the group gets none, and hears so.
void create_group(const std::string& name, std::span<const uint32_t> ranks);
void destroy_group(const std::string& name);

/// A group by name. Raises kUnavailable before join_world(), kNotFound.
struct NamedGroup {
  std::shared_ptr<Communicator> communicator;
  std::vector<uint32_t> world_ranks;  ///< by rank in the group
};
NamedGroup group_named(const std::string& name);

}  // namespace npu::comm
