// SPDX-License-Identifier: Apache-2.0
#include "comm/group.h"

#include <fmt/format.h>

namespace npu::comm {

std::string describe(const Peer& peer) {
  return fmt::format("rank {} (host {}, device {}, process {})", peer.rank, peer.host, peer.device, peer.pid);
}

}  // namespace npu::comm
