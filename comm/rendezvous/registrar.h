// SPDX-License-Identifier: Apache-2.0
// How ranks find each other: one of them runs a registrar, a thread with a listening socket; each rank, that one too,
// tells it who it is and gets the table of all. Whatever does not fit is told to all of them at once, by name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/core/group.h"
#include "comm/rendezvous/network.h"

namespace npu::comm {

/// Where the registrar of a group listens, and which group it is.
struct Place {
  std::string uid;  ///< of the group
  std::string address;
  uint16_t port = 0;      ///< the first of those where it may listen; 0: any
  uint16_t ports = 1;     ///< how many
  bool listens = false;   ///< it does already: nobody waits for one that may still start
  std::string job = {};   ///< what ranks of one job share even where their groups differ by mistake; "" for nothing
  std::string told = {};  ///< how this rank knows its group, for texts: "a.json (4 ranks)"
  std::vector<std::string> devices = {};  ///< of the group; two groups of a job that share one are a mistake
};

/// Starts a registrar at the first free port of `place`, and returns that one; it ends when all ranks have their table,
/// or at the deadline. One whose group has failed tells so to those that come later. Raises kNetwork when all ports are
/// in use.
Place start_registrar(Place place, Deadline deadline);

/// Tells the registrar at `place` who `own` is, of `size` ranks, and waits for the table. Tries until the deadline,
/// since the registrar may start later. Raises kTimeout, kRemote when the registrar ends, or what it refuses.
Group register_rank(const Place& place, uint32_t size, const Peer& own, Deadline deadline);

}  // namespace npu::comm
