// SPDX-License-Identifier: Apache-2.0
#include "comm/core/group.h"

#include <fmt/format.h>

namespace npu::comm {

std::string describe(const Peer& peer) {
  const std::string rank = peer.rank == kAnyRank ? "a rank" : fmt::format("rank {}", peer.rank);
  return fmt::format("{} (host {}, device {}, process {})", rank, peer.host, peer.device, peer.pid);
}

}  // namespace npu::comm
