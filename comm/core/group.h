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
  std::string host;          ///< its host's name, for texts
  std::string process;       ///< tells its process from all others, on all hosts
  std::string socket;        ///< where that process answers others of its host (transport/shared_memory)
  std::string domain = {};   ///< the same for processes that can share memory
  std::string address = {};  ///< where that process answers other hosts (transport/ucx); "" until it must
  std::string order = {};    ///< of hosts, where whoever gathers the ranks numbers them
  int32_t on_machine = -1;   ///< the number that its device has there, whatever devices the process sees
};

/// "rank 2 (host a, device 1, process 4711)".
std::string describe(const Peer& peer);

struct Group {
  std::string uid;          ///< the same on all ranks, of no other communicator
  std::string name;         ///< as HcclGetCommName gives it
  std::vector<Peer> peers;  ///< by rank
};

/// Which ranks share memory. Hosts count in the order of their first ranks.
struct Hosts {
  std::vector<std::vector<uint32_t>> ranks;  ///< by host, in order
  std::vector<uint32_t> host_of;             ///< by rank
  std::vector<uint32_t> place_of;            ///< by rank, among those of its host

  uint32_t count() const { return static_cast<uint32_t>(ranks.size()); }
  /// Ranks of the largest.
  uint32_t most() const;
  /// The rank of `host` that works for `rank`, one of another host: with as many ranks on each, that of its place.
  uint32_t server(uint32_t host, uint32_t rank) const { return ranks[host][place_of[rank] % ranks[host].size()]; }
};
Hosts hosts_of(const Group& group);
/// The ranks of one host, which count among themselves.
Group group_of_host(const Group& group, const Hosts& hosts, uint32_t host);
bool on_several_hosts(const std::vector<Peer>& peers);

}  // namespace npu::comm
