// SPDX-License-Identifier: Apache-2.0
// How ranks find each other: one of them runs a registrar, a thread with a listening socket; each rank, that one too,
// tells it who it is and gets the table of all. Whatever does not fit is told to all of them at once, by name.
#pragma once

#include <cstdint>
#include <string>

#include "comm/group.h"
#include "comm/rendezvous/network.h"

namespace npu::comm {

/// Where the registrar of a group listens, and which group it is.
struct Place {
  std::string uid;  ///< of the group
  std::string address;
  uint16_t port = 0;   ///< the first of those where it may listen
  uint16_t ports = 1;  ///< how many
};

/// Starts a registrar for the group `uid` at `address`; it ends when all ranks have their table, or at the deadline.
/// Ports `first` to `last` are tried in turn; 0 to 0: any free one. Raises kNetwork when all are in use.
Place start_registrar(const std::string& uid, const std::string& address, uint16_t first, uint16_t last,
                      Deadline deadline);

/// Tells the registrar at `place` who `own` is, of `size` ranks, and waits for the table. Tries until the deadline,
/// since the registrar may start later. Raises kTimeout, or what the registrar refuses.
Group register_rank(const Place& place, uint32_t size, const Peer& own, Deadline deadline);

}  // namespace npu::comm
