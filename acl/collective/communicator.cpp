// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "acl/collective/config.h"
#include "acl/collective/handle.h"
#include "acl/include/hccl/hccl.h"
#include "comm/rendezvous/join.h"

using namespace npu;  // NOLINT: the C functions below are the door itself

namespace {

// The client of the wheel asks this before it sets fields up to number 11; all of them are known here.
constexpr uint32_t kFieldsKnown = 12;
constexpr uint64_t kNoPart = 0xFFFFFFFF;

void join(uint32_t size, const HcclRootInfo* root, uint32_t rank, const HcclCommConfig* config, HcclComm* comm) {
  // Pointers first, and the result null until there is one: a client that ignores the error finds no wild handle.
  acl::pointer(root, "rootInfo");
  *acl::pointer(comm, "comm") = nullptr;
  const std::span<const char, comm::kRootInfoBytes> bytes(root->internal);
  *comm = acl::add_communicator(comm::join_root(bytes, size, rank, acl::options_of(config)));
}

void join_table(const char* table, uint32_t rank, const HcclCommConfig* config, HcclComm* comm) {
  acl::pointer(table, "clusterInfo");
  *acl::pointer(comm, "comm") = nullptr;
  *comm = acl::add_communicator(comm::join_table(table, rank, acl::options_of(config)));
}

// By number: the order is the vendor's HcclResult.
const std::array<const char*, 23> kNames = {
    "HCCL_SUCCESS: no error",
    "HCCL_E_PARA: a wrong argument, or arguments that differ between ranks",
    "HCCL_E_PTR: a pointer that must be given is null",
    "HCCL_E_MEMORY: out of memory",
    "HCCL_E_INTERNAL: internal error",
    "HCCL_E_NOT_SUPPORT: not supported",
    "HCCL_E_NOT_FOUND: not found",
    "HCCL_E_UNAVAIL: not available",
    "HCCL_E_SYSCALL: a call of the system failed",
    "HCCL_E_TIMEOUT: other ranks did not come in time",
    "HCCL_E_OPEN_FILE_FAILURE: a file cannot be opened",
    "HCCL_E_TCP_CONNECT: no connection to another rank",
    "HCCL_E_ROCE_CONNECT: no connection to another rank",
    "HCCL_E_TCP_TRANSFER: a connection to another rank broke",
    "HCCL_E_ROCE_TRANSFER: a connection to another rank broke",
    "HCCL_E_RUNTIME: the runtime failed",
    "HCCL_E_DRV: the driver failed",
    "HCCL_E_PROFILING: profiling failed",
    "HCCL_E_CCE: the runtime failed",
    "HCCL_E_NETWORK: no port to listen at, or no network",
    "HCCL_E_AGAIN: not ready, ask again",
    "HCCL_E_REMOTE: another rank ended, stopped or left",
    "HCCL_E_SUSPENDING: the communicator is suspended",
};

}  // namespace

uint32_t HcclGetCommConfigCapability() { return kFieldsKnown; }

HcclResult HcclGetRootInfo(HcclRootInfo* rootInfo) {
  return acl::hccl("HcclGetRootInfo", [&] {
    comm::make_root_info(std::span<char, comm::kRootInfoBytes>(acl::pointer(rootInfo, "rootInfo")->internal));
  });
}

HcclResult HcclCommInitRootInfo(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank, HcclComm* comm) {
  return acl::hccl("HcclCommInitRootInfo", [&] { join(nRanks, rootInfo, rank, nullptr, comm); });
}

HcclResult HcclCommInitRootInfoConfig(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank,
                                      HcclCommConfig* config, HcclComm* comm) {
  return acl::hccl("HcclCommInitRootInfoConfig",
                   [&] { join(nRanks, rootInfo, rank, acl::pointer(config, "config"), comm); });
}

HcclResult HcclCommInitClusterInfo(const char* clusterInfo, uint32_t rank, HcclComm* comm) {
  return acl::hccl("HcclCommInitClusterInfo", [&] { join_table(clusterInfo, rank, nullptr, comm); });
}

HcclResult HcclCommInitClusterInfoConfig(const char* clusterInfo, uint32_t rank, HcclCommConfig* config,
                                         HcclComm* comm) {
  return acl::hccl("HcclCommInitClusterInfoConfig",
                   [&] { join_table(clusterInfo, rank, acl::pointer(config, "config"), comm); });
}

HcclResult HcclCommInitAll(uint32_t ndev, int32_t* devices, HcclComm* comms) {
  return acl::hccl("HcclCommInitAll", [&] {
    acl::pointer(devices, "devices");
    acl::pointer(comms, "comms");
    // All ranks of one process meet here, so they are made together and handed out in the order of the devices.
    const auto made = comm::join_all({devices, ndev});
    std::ranges::transform(made, comms, acl::add_communicator);
  });
}

HcclResult HcclCreateSubCommConfig(HcclComm* comm, uint32_t rankNum, uint32_t* rankIds, uint64_t subCommId,
                                   uint32_t subCommRankId, HcclCommConfig* config, HcclComm* subComm) {
  return acl::hccl("HcclCreateSubCommConfig", [&] {
    const auto parent = acl::communicator_of(*acl::pointer(comm, "comm"));
    *acl::pointer(subComm, "subComm") = nullptr;
    // A rank that is in no part calls too, with nothing to join.
    if (rankIds == nullptr && subCommId == kNoPart) return;  // no member
    acl::pointer(rankIds, "rankIds");
    *subComm = acl::add_communicator(
        comm::join_part(*parent, {rankIds, rankNum}, subCommId, subCommRankId, acl::options_of(config)));
  });
}

HcclResult HcclCommDestroy(HcclComm comm) {
  // The handle ends first: no other call can find the communicator while it leaves.
  return acl::hccl("HcclCommDestroy", [&] { acl::remove_communicator(comm)->leave(); });
}

HcclResult HcclGetRankSize(HcclComm comm, uint32_t* rankSize) {
  return acl::hccl("HcclGetRankSize",
                   [&] { *acl::pointer(rankSize, "rankSize") = acl::communicator_of(comm)->size(); });
}

HcclResult HcclGetRankId(HcclComm comm, uint32_t* rank) {
  return acl::hccl("HcclGetRankId", [&] { *acl::pointer(rank, "rank") = acl::communicator_of(comm)->rank(); });
}

HcclResult HcclGetCommName(HcclComm commHandle, char* commName) {
  return acl::hccl("HcclGetCommName", [&] {
    // Cut to the field, which always ends with a zero.
    const std::string& name = acl::communicator_of(commHandle)->group().name;
    acl::pointer(commName, "commName")[name.copy(commName, COMM_NAME_MAX_LENGTH - 1)] = '\0';
  });
}

HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult* asyncError) {
  // A result and not an error of this call: clients ask for it again and again.
  return acl::hccl("HcclGetCommAsyncError", [&] {
    *acl::pointer(asyncError, "asyncError") = static_cast<HcclResult>(acl::communicator_of(comm)->async_error());
  });
}

// Never null, and never destroyed: the client keeps the pointer.
const char* HcclGetErrorString(HcclResult code) {
  const auto number = static_cast<size_t>(code);
  return number < kNames.size() ? kNames[number] : "unknown: not a number of HcclResult";
}
