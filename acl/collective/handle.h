// SPDX-License-Identifier: Apache-2.0
// Communicators as clients hold them, and the frame every Hccl function stands in.
#pragma once

#include <memory>

#include "acl/call.h"
#include "acl/include/hccl/hccl_types.h"
#include "comm/collective/collective.h"
#include "comm/communicator/communicator.h"
#include "comm/core/fault.h"

namespace npu::acl {

/// A new handle.
HcclComm add_communicator(std::shared_ptr<comm::Communicator> communicator);
/// Raises kNull for null, kParameter for what is no living handle.
std::shared_ptr<comm::Communicator> communicator_of(HcclComm handle);
/// Ends the handle.
std::shared_ptr<comm::Communicator> remove_communicator(HcclComm handle);

/// The number of a failure that was no fault of the ranks'.
HcclResult result_of(int code);

template <class F>
HcclResult hccl(const char* function, F&& body) noexcept {
  auto result = static_cast<int32_t>(HCCL_SUCCESS);
  const int code = call(function, [&] {
    try {
      body();
    } catch (const comm::Fault& fault) {
      result = static_cast<int32_t>(fault.result());
      throw;
    }
  });
  if (code == 0) return HCCL_SUCCESS;
  return result != 0 ? static_cast<HcclResult>(result) : result_of(code);
}

/// Raises kNull when a pointer that must be given is null.
template <class T>
T* pointer(T* given, const char* argument) {
  if (given == nullptr) comm::fault(comm::Result::kNull, "{} is null; it must be given", argument);
  return given;
}

/// Raises kParameter for a number that is no type.
comm::Element element_of(HcclDataType type);
/// Offsets and counts of a client's two arrays, one entry a rank.
std::vector<comm::Extent> extents_of(const void* counts, const void* offsets, uint32_t size, const char* argument);

/// Work of a call: done now, or at the end of the group of calls that the thread has begun.
void in_group(std::function<void()> work);
/// A message, sent now or together with the others of the group.
void message_in_group(HcclComm handle, aclrtStream stream, const comm::Message& message);
void begin_group();
void end_group();

}  // namespace npu::acl
