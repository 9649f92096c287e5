// SPDX-License-Identifier: Apache-2.0
#include "acl/collective/handle.h"

#include <map>
#include <mutex>

namespace npu::acl {
namespace {

// Handles are numbers, not addresses: one that was destroyed never names a later communicator.
struct Table {
  std::mutex mutex;
  std::map<HcclComm, std::shared_ptr<comm::Communicator>> living;
  uintptr_t last = 0x48434c0000;  // far from what clients mistake for one: small numbers, addresses

  auto find(HcclComm handle) {
    pointer(handle, "comm");
    const auto found = living.find(handle);
    if (found == living.end())
      comm::fault(comm::Result::kParameter, "comm {} is no living communicator: it was destroyed, or never made",
                  handle);
    return found;
  }
};

// Never destroyed: clients leave communicators while the process ends.
Table& table() {
  static Table& instance = *new Table;
  return instance;
}

}  // namespace

HcclComm add_communicator(std::shared_ptr<comm::Communicator> communicator) {
  const std::lock_guard lock(table().mutex);
  const auto handle = reinterpret_cast<HcclComm>(table().last += 16);
  table().living.emplace(handle, std::move(communicator));
  return handle;
}

// Shared: a call that has found its communicator keeps it, also while another thread destroys the handle.
std::shared_ptr<comm::Communicator> communicator_of(HcclComm handle) {
  const std::lock_guard lock(table().mutex);
  return table().find(handle)->second;
}

std::shared_ptr<comm::Communicator> remove_communicator(HcclComm handle) {
  const std::lock_guard lock(table().mutex);
  // Ends in the table here; the communicator itself ends with the last call that uses it.
  const auto found = table().find(handle);
  std::shared_ptr<comm::Communicator> out = std::move(found->second);
  table().living.erase(found);
  return out;
}

// The few codes of the other functions that have a counterpart; what has none is an inner error.
HcclResult result_of(int code) {
  switch (static_cast<Code>(code)) {
    case Code::kInvalidParam:
    case Code::kRtParamInvalid:
    case Code::kRtInvalidDevice:
    case Code::kRtContextNull:
    case Code::kRtStreamContext:
    case Code::kRtInvalidHandle: return HCCL_E_PARA;
    case Code::kBadAlloc:
    case Code::kMemoryAllocation: return HCCL_E_MEMORY;
    case Code::kFeatureUnsupported: return HCCL_E_NOT_SUPPORT;
    default: return HCCL_E_INTERNAL;
  }
}

comm::Element element_of(HcclDataType type) {
  switch (type) {
    case HCCL_DATA_TYPE_INT8: return {DType::kInt8, 1};
    case HCCL_DATA_TYPE_INT16: return {DType::kInt16, 2};
    case HCCL_DATA_TYPE_INT32: return {DType::kInt32, 4};
    case HCCL_DATA_TYPE_FP16: return {DType::kHalf, 2};
    case HCCL_DATA_TYPE_FP32: return {DType::kFloat, 4};
    case HCCL_DATA_TYPE_INT64: return {DType::kInt64, 8};
    case HCCL_DATA_TYPE_UINT64: return {DType::kUInt64, 8};
    case HCCL_DATA_TYPE_UINT8: return {DType::kUInt8, 1};
    case HCCL_DATA_TYPE_UINT16: return {DType::kUInt16, 2};
    case HCCL_DATA_TYPE_UINT32: return {DType::kUInt32, 4};
    case HCCL_DATA_TYPE_FP64: return {DType::kDouble, 8};
    case HCCL_DATA_TYPE_BFP16: return {DType::kBFloat16, 2};
    // Only moved: there are no numbers of 16 bytes to add up.
    case HCCL_DATA_TYPE_INT128: return {DType::kUndefined, 16};
    case HCCL_DATA_TYPE_HIF8: return {DType::kHiFloat8, 1};
    case HCCL_DATA_TYPE_FP8E4M3: return {DType::kFloat8E4M3, 1};
    case HCCL_DATA_TYPE_FP8E5M2: return {DType::kFloat8E5M2, 1};
    case HCCL_DATA_TYPE_FP8E8M0: return {DType::kFloat8E8M0, 1};
    default: break;
  }
  comm::fault(comm::Result::kParameter, "EI0003: dataType is {}; the types are 0 to 12 and 14 to 17",
              static_cast<int>(type));
}

std::vector<comm::Extent> extents_of(const void* counts, const void* offsets, uint32_t size, const char* argument) {
  const auto* count = static_cast<const uint64_t*>(pointer(counts, argument));
  const auto* offset = static_cast<const uint64_t*>(pointer(offsets, argument));
  std::vector<comm::Extent> out(size);
  // Copied: the arrays are the client's, and may be gone when the work runs.
  for (uint32_t i = 0; i < size; ++i) out[i] = {offset[i], count[i]};
  return out;
}

}  // namespace npu::acl
