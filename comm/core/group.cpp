// SPDX-License-Identifier: Apache-2.0
#include "comm/core/group.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace npu::comm {

std::string describe(const Peer& peer) {
  const std::string rank = peer.rank == kAnyRank ? "a rank" : fmt::format("rank {}", peer.rank);
  return fmt::format("{} (host {}, device {}, process {})", rank, peer.host, peer.device, peer.pid);
}

bool on_several_hosts(const std::vector<Peer>& peers) {
  return std::ranges::any_of(peers, [&](const Peer& peer) { return peer.domain != peers[0].domain; });
}

Hosts hosts_of(const Group& group) {
  Hosts out;
  std::map<std::string, uint32_t> number;
  for (const Peer& peer : group.peers) {
    const uint32_t host = number.emplace(peer.domain, out.count()).first->second;
    if (host == out.count()) out.ranks.emplace_back();
    out.host_of.push_back(host);
    out.place_of.push_back(static_cast<uint32_t>(out.ranks[host].size()));
    out.ranks[host].push_back(peer.rank);
  }
  return out;
}

uint32_t Hosts::most() const {
  return static_cast<uint32_t>(std::ranges::max(ranks, {}, [](const auto& host) { return host.size(); }).size());
}

Group group_of_host(const Group& group, const Hosts& hosts, uint32_t host) {
  Group out{fmt::format("{}@{}", group.uid, host), group.name, {}};
  for (const uint32_t each : hosts.ranks[host]) {
    out.peers.push_back(group.peers[each]);
    out.peers.back().rank = hosts.place_of[each];
  }
  return out;
}

}  // namespace npu::comm
