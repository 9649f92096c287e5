// SPDX-License-Identifier: Apache-2.0
// What collectives do where ranks are on several hosts. For each rank, one rank of every other host serves it
// (Hosts::server): it sends what its host has for that rank, and hands on to its host what comes from it. So each byte
// crosses the network once, and all ranks of a host send and receive.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "comm/collective/check.h"

namespace npu::comm {

/// Tells results from what they are made of, which is passed in steps by the place of the rank whose it is.
inline constexpr uint32_t kResultStep = kMostRanks;

/// Calls `body(rank)` for each rank of another host that this one serves. In these functions ranks begin with those
/// after them: where all began with the first host, its card would have to take what all others send at once.
template <class F>
void each_served(const Meeting& meeting, F&& body) {
  const Hosts& hosts = *meeting.hosts();
  for (uint32_t i = 1; i < meeting.size(); ++i) {
    const uint32_t rank = (meeting.rank() + i) % meeting.size();
    if (hosts.host_of[rank] != hosts.host_of[meeting.rank()] &&
        hosts.server(hosts.host_of[meeting.rank()], rank) == meeting.rank())
      body(rank);
  }
}

/// Calls `body(rank)` for the rank of each other host that serves this one.
template <class F>
void each_server(const Meeting& meeting, F&& body) {
  const Hosts& hosts = *meeting.hosts();
  for (uint32_t i = 1; i < hosts.count(); ++i)
    body(hosts.server((hosts.host_of[meeting.rank()] + i) % hosts.count(), meeting.rank()));
}

/// Where a part of what a rank of this host sends lies for this one.
const std::byte* sent_by(Meeting& meeting, const Part& part);

/// Where `from`'s input has its part for `to`: elements.
using PartOf = std::function<Extent(uint32_t from, uint32_t to)>;

/// Reduces the parts for this rank of all ranks into `outputs`, and sends those of this host to the ranks it serves. By
/// Algorithm::kHosts a host's parts are reduced first, in the order of its ranks, then those of hosts in their order;
/// by kFlat all are passed on and reduced in the order of the ranks.
void reduce_between(Meeting& meeting, const PartOf& part, std::span<std::byte* const> outputs);

/// What a host makes of its ranks' parts, in their order: of one, that part itself.
const std::byte* sum_of(Meeting& meeting, std::span<const std::byte* const> parts, uint64_t count);

/// What this rank has, for what comes from the only other host.
Merge merge_with(const Meeting& meeting, const std::byte* own);

/// Writes a piece of this rank's output to those of its host.
void hand_on(Meeting& meeting, uint64_t offset, uint64_t bytes);

}  // namespace npu::comm
