// SPDX-License-Identifier: Apache-2.0
#include "comm/core/soc_limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/setting.h"
#include "comm/core/fault.h"

namespace npu::comm {
namespace {

NPU_SETTING(bool, strict_device, "ANYNPU_STRICT_DEVICE", false,
            "1 refuses what the collectives of ANYNPU_SOC refuse, though it works here: element types, numbers of "
            "ranks on a host, two ranks on one device.");

/// "int8, int32": the types of a set.
std::string names_of(device::DTypes types) {
  std::vector<std::string_view> out;
  for (int32_t number = 0; number < 64; ++number)
    if (device::has(types, static_cast<DType>(number))) out.push_back(name_of(static_cast<DType>(number)));
  return fmt::format("{}", fmt::join(out, ", "));
}

/// The types that this collective of the SoC takes.
device::DTypes taken(const Call& call, const device::CollectiveLimits& limits) {
  if (!call.row().reduces) return limits.moves;
  if (call.reduce == ReduceOp::kSum) return limits.reduces;
  return limits.reduces & ~(call.reduce == ReduceOp::kProd ? limits.no_product : limits.no_extreme);
}

/// The ranks of a host, which must be on devices of their own.
void check_own_devices(const Group& group, const std::vector<uint32_t>& ranks) {
  std::set<int32_t> met;
  for (const uint32_t rank : ranks) {
    const Peer& peer = group.peers[rank];
    if (peer.on_machine >= 0 && !met.insert(peer.on_machine).second)
      fault(Result::kParameter,
            "EI0003: {} is the second rank on device {} of its host; give each rank a device of its own, or unset "
            "ANYNPU_STRICT_DEVICE",
            describe(peer), peer.on_machine);
  }
}

void check_count(size_t count, const device::Soc& soc) {
  const uint64_t allowed = soc.collective.ranks_per_host;
  if (allowed == 0 || (count < 64 && (allowed >> count & 1) != 0)) return;
  std::vector<int> numbers;
  for (int n = 0; n < 64; ++n)
    if ((allowed >> n & 1) != 0) numbers.push_back(n);
  fault(Result::kParameter,
        "EI0003: {} ranks are on one host; collectives of {} are between {} of them: start so many, choose another SoC "
        "by ANYNPU_SOC, or unset ANYNPU_STRICT_DEVICE",
        count, soc.name, fmt::join(numbers, ", "));
}

/// Devices 0 to 3 are linked with each other, and 4 to 7: fewer ranks than both have are on one of these halves.
void check_cluster(const Group& group, const std::vector<uint32_t>& ranks, const device::Soc& soc) {
  const int cluster = soc.collective.cluster;
  if (cluster == 0 || ranks.size() > static_cast<size_t>(cluster)) return;
  const int first = group.peers[ranks[0]].on_machine / cluster;
  const auto elsewhere = [&](uint32_t rank) { return group.peers[rank].on_machine / cluster != first; };
  const auto other = std::ranges::find_if(ranks, elsewhere);
  if (other == ranks.end()) return;
  fault(Result::kParameter,
        "EI0003: {} ranks are on devices {} and {} of one host; on {} as many are all on devices {} to {}, or {} to "
        "{}: choose such devices, or unset ANYNPU_STRICT_DEVICE",
        ranks.size(), group.peers[ranks[0]].on_machine, group.peers[*other].on_machine, soc.name, 0, cluster - 1,
        cluster, 2 * cluster - 1);
}

/// All hosts have as many ranks, and the SoC may have no collectives between hosts at all.
void check_hosts(const Hosts& hosts, const device::Soc& soc) {
  if (soc.collective.hosts != 0 && hosts.count() > soc.collective.hosts)
    fault(Result::kParameter,
          "EI0003: the ranks are on {} hosts; collectives of {} are between ranks of one: put all of them there, or "
          "unset ANYNPU_STRICT_DEVICE",
          hosts.count(), soc.name);
  for (const auto& ranks : hosts.ranks)
    if (ranks.size() != hosts.ranks[0].size())
      fault(Result::kParameter,
            "EI0003: one host has {} ranks, another {}; collectives of {} want as many on each: start so many, or "
            "unset ANYNPU_STRICT_DEVICE",
            hosts.ranks[0].size(), ranks.size(), soc.name);
}

}  // namespace

void detail::check_soc_types(const Call& call, const device::Soc& soc, bool strict) {
  if (!call.row().moves) return;
  if (!soc.has(call.dtype))
    fault(Result::kUnsupported,
          "EI0003: {}: {} does not have {}; cast it to float16 or float32, or choose another SoC by ANYNPU_SOC",
          describe(call), soc.name, name_of(call.dtype));
  if (!strict || device::has(taken(call, soc.collective), call.dtype)) return;
  fault(Result::kUnsupported,
        "EI0003: {}: on {} it takes {}; cast to one of them, choose another SoC by ANYNPU_SOC, or unset "
        "ANYNPU_STRICT_DEVICE",
        describe(call), soc.name, names_of(taken(call, soc.collective)));
}

void detail::check_soc_group(const Group& group, const device::Soc& soc, bool strict) {
  if (!strict) return;
  const Hosts hosts = hosts_of(group);
  for (const auto& ranks : hosts.ranks) {
    check_own_devices(group, ranks);
    check_count(ranks.size(), soc);
    check_cluster(group, ranks, soc);
  }
  check_hosts(hosts, soc);
}

void check_soc_types(const Call& call) { detail::check_soc_types(call, device::soc(), strict_device()); }
void check_soc_group(const Group& group) { detail::check_soc_group(group, device::soc(), strict_device()); }

}  // namespace npu::comm
