// SPDX-License-Identifier: Apache-2.0
// Who the ranks of a run are: this process, and the communicators it was in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/profile/trace/folder.h"

namespace npu::profile {

struct RankGroup {
  std::string name;
  uint32_t rank = 0;                   ///< of this process in it
  std::vector<uint32_t> global_ranks;  ///< of its members, by their ranks; those of the largest communicator
  bool is_world = false;
};

/// Each communicator once, the one with most ranks first: its ranks are the global ones. A group with a member that
/// the first has not is left out.
std::vector<RankGroup> groups_of(const Trace& trace);

/// {communicator: {"group_name", "group_rank", "global_ranks"}}, as torch_npu writes it down and analysers read it.
std::string parallel_groups(const Trace& trace);

}  // namespace npu::profile
