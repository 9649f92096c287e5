// SPDX-License-Identifier: Apache-2.0
// The doors of adapters whose clients know a world of ranks and groups by name; all of it is comm's.
#include "comm/rendezvous/world.h"

#include <algorithm>

#include "acl/collective/handle.h"
#include "acl/include/anynpu/collective.h"
#include "comm/communicator/algorithm.h"
#include "comm/core/gradient_split.h"

using namespace npu;  // NOLINT: the C functions below are the door itself

namespace {

comm::NamedGroup group(const char* name) { return comm::group_named(acl::pointer(name, "name")); }

// What would be chosen, without sending anything.
void show(const std::vector<comm::Plan>& plans, void (*visit)(const anynpu_collective_plan* plan, void* context),
          void* context) {
  for (const comm::Plan& plan : plans) {
    const anynpu_collective_plan out{sizeof(out),      plan.operation,        plan.bytes, comm::name_of(plan.algorithm),
                                     plan.expected.us, plan.expected.limit_us};
    visit(&out, context);
  }
}

}  // namespace

int32_t anynpu_world_join() {
  return acl::hccl("anynpu_world_join", [] { comm::join_world(); });
}

int32_t anynpu_world_leave() {
  return acl::hccl("anynpu_world_leave", [] { comm::leave_world(); });
}

int32_t anynpu_group_create(const char* name, uint32_t count, const uint32_t* ranks) {
  return acl::hccl("anynpu_group_create",
                   [&] { comm::create_group(acl::pointer(name, "name"), {acl::pointer(ranks, "ranks"), count}); });
}

int32_t anynpu_group_destroy(const char* name) {
  return acl::hccl("anynpu_group_destroy", [&] { comm::destroy_group(acl::pointer(name, "name")); });
}

int32_t anynpu_group_size(const char* name, int32_t local, uint32_t* size) {
  return acl::hccl("anynpu_group_size", [&] {
    const comm::NamedGroup found = group(name);
    *acl::pointer(size, "size") =
        local != 0 ? static_cast<uint32_t>(found.communicator->near().size()) : found.communicator->size();
  });
}

int32_t anynpu_group_rank(const char* name, int32_t local, uint32_t* rank) {
  return acl::hccl("anynpu_group_rank", [&] {
    const comm::NamedGroup found = group(name);
    const uint32_t own = found.communicator->rank();
    const auto near = found.communicator->near();
    *acl::pointer(rank, "rank") = local != 0 ? static_cast<uint32_t>(std::ranges::find(near, own) - near.begin()) : own;
  });
}

int32_t anynpu_group_to_world(const char* name, uint32_t group_rank, uint32_t* world_rank) {
  return acl::hccl("anynpu_group_to_world", [&] {
    const comm::NamedGroup found = group(name);
    if (group_rank >= found.world_ranks.size())
      comm::fault(comm::Result::kParameter, "EI0003: rank {} is not in group '{}', whose ranks are 0 to {}", group_rank,
                  name, found.world_ranks.size() - 1);
    *acl::pointer(world_rank, "world_rank") = found.world_ranks[group_rank];
  });
}

// A rank that is in no group is asked for by mistake: there is no number that says so.
int32_t anynpu_group_from_world(const char* name, uint32_t world_rank, uint32_t* group_rank) {
  return acl::hccl("anynpu_group_from_world", [&] {
    const comm::NamedGroup found = group(name);
    const auto at = std::ranges::find(found.world_ranks, world_rank);
    if (at == found.world_ranks.end())
      comm::fault(comm::Result::kParameter, "EI0003: rank {} of the world is not in group '{}'", world_rank, name);
    *acl::pointer(group_rank, "group_rank") = static_cast<uint32_t>(at - found.world_ranks.begin());
  });
}

int32_t anynpu_split_by_index(const char* name, uint32_t count, const uint32_t* last) {
  return acl::hccl("anynpu_split_by_index", [&] {
    group(name);
    comm::split_by_index(name, {acl::pointer(last, "last"), count});
  });
}

int32_t anynpu_split_by_size(const char* name, uint32_t count, const double* percent) {
  return acl::hccl("anynpu_split_by_size", [&] {
    group(name);
    comm::split_by_size(name, {acl::pointer(percent, "percent"), count});
  });
}

int32_t anynpu_each_collective_plan(uint32_t ranks, void (*visit)(const anynpu_collective_plan* plan, void* context),
                                    void* context) {
  return acl::hccl("anynpu_each_collective_plan", [&] { show(comm::plans(ranks), visit, context); });
}

int32_t anynpu_each_collective_plan_between(uint32_t ranks, uint32_t hosts, const anynpu_network* network,
                                            void (*visit)(const anynpu_collective_plan* plan, void* context),
                                            void* context) {
  return acl::hccl("anynpu_each_collective_plan_between", [&] {
    const anynpu_network& its = *acl::pointer(network, "network");
    if (!(its.latency_us >= 0 && its.message_us >= 0 && its.bytes_per_us > 0))
      comm::fault(
          comm::Result::kParameter,
          "EI0003: a network has {} us of latency, {} us a message and {} bytes a us; give numbers that are not "
          "negative, and more than no bytes",
          its.latency_us, its.message_us, its.bytes_per_us);
    show(comm::plans(ranks, hosts, {its.latency_us, its.message_us, its.bytes_per_us}), visit, context);
  });
}
