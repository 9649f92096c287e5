// SPDX-License-Identifier: Apache-2.0
// Who takes part in a communicator.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace npu::comm {

inline constexpr uint32_t kAnyRank = 0xFFFFFFFF;  ///< whoever gathers the ranks numbers them

struct Peer {
  uint32_t rank = 0;
  int32_t device = -1;  ///< in its process
  int32_t pid = 0;
  std::string host;     ///< its host's name, for texts
  std::string process;  ///< tells its process from all others, on all hosts
  std::string socket;   ///< where that process answers others of its host (transport/shared_memory)
};

/// "rank 2 (host a, device 1, process 4711)".
std::string describe(const Peer& peer);

struct Group {
  std::string uid;          ///< the same on all ranks, of no other communicator
  std::string name;         ///< as HcclGetCommName gives it
  std::vector<Peer> peers;  ///< by rank
};

}  // namespace npu::comm
