// SPDX-License-Identifier: Apache-2.0
// From who and where to a communicator.
#pragma once

#include <memory>
#include <span>

#include "comm/communicator/communicator.h"
#include "comm/rendezvous/registrar.h"

namespace npu::comm {

/// Bytes that one rank makes and all get (HcclRootInfo). Their content is ours.
inline constexpr size_t kRootInfoBytes = 4108;
/// Starts a registrar in this process. Raises kNetwork, kParameter (settings).
void make_root_info(std::span<char, kRootInfoBytes> out);
/// Joins as `rank` of `size` with the device of the calling thread.
/// Raises kParameter for bytes that are no root info, for a rank outside the group, ranks that do not fit together;
/// kTimeout with the ranks that are missing; kUnsupported when ranks are on several hosts, and one has no UCX.
std::shared_ptr<Communicator> join_root(std::span<const char, kRootInfoBytes> root, uint32_t size, uint32_t rank,
                                        const Options& options);

/// Joins the group of a rank table as `rank`. Raises kOpenFile, and kParameter for a table that makes no sense.
std::shared_ptr<Communicator> join_table(const std::string& path, uint32_t rank, const Options& options);

/// Joins as the environment says (rank_source.h). Raises kNotFound when it says nothing.
std::shared_ptr<Communicator> join_environment(const Options& options);

/// Where ranks of a table, or of a launcher, meet on this host: the first free of these ports. Raises kParameter.
struct PortBlock {
  uint16_t first = 0;
  uint16_t count = 0;
};
PortBlock meeting_ports();

/// One communicator for each device, all in this process.
std::vector<std::shared_ptr<Communicator>> join_all(std::span<const int32_t> devices);

/// The part of `parent` that `ranks` are; `id` tells it from other parts, `rank` is the position of this rank there.
std::shared_ptr<Communicator> join_part(const Communicator& parent, std::span<const uint32_t> ranks, uint64_t id,
                                        uint32_t rank, const Options& options);

}  // namespace npu::comm
