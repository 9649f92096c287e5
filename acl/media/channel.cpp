// SPDX-License-Identifier: Apache-2.0
// Channels, and memory for pictures. Nothing stands behind a channel but what conversions of colours go by.
#include <cstring>

#include "acl/call.h"
#include "acl/media/description.h"
#include "device/context/context.h"
#include "device/memory/memory.h"

namespace npu::acl {

ops::TransformRule rule_of(const acldvppChannelDesc* channel) {
  const acldvppChannelDesc& desc = described(channel, "channelDesc");
  if (desc.id == 0) fail(Code::kInvalidParam, "the channel is not open; call acldvppCreateChannel first");
  return {.standard = static_cast<ops::ColourStandard>(desc.matrix)};
}

namespace {

void check_parameter(acldvppChannelDescParamType type, size_t length) {
  if (type != ACL_DVPP_CSC_MATRIX_UINT32)
    fail(Code::kInvalidParam, "paramType is {}; there is 0 (ACL_DVPP_CSC_MATRIX_UINT32)", static_cast<int>(type));
  if (length != sizeof(uint32_t))
    fail(Code::kInvalidParam, "length is {}; the matrix is a uint32_t of 4 bytes", length);
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError acldvppMalloc(void** devPtr, size_t size) {
  return call("acldvppMalloc", [&] {
    given(devPtr, "devPtr");
    if (size == 0) fail(Code::kInvalidParam, "size is 0; ask for at least one byte");
    *devPtr = device::allocate(device::current_device(), size);
  });
}
aclError acldvppFree(void* devPtr) {
  return call("acldvppFree", [&] { device::deallocate(given(devPtr, "devPtr")); });
}

acldvppChannelDesc* acldvppCreateChannelDesc() {
  return call_or<acldvppChannelDesc*>("acldvppCreateChannelDesc", nullptr,
                                      [] { return DescriptionPool<acldvppChannelDesc>::create(); });
}
aclError acldvppDestroyChannelDesc(acldvppChannelDesc* channelDesc) {
  return call("acldvppDestroyChannelDesc", [&] {
    if (described(channelDesc, "channelDesc").id != 0)
      fail(Code::kInvalidParam, "the channel is open; call acldvppDestroyChannel first");
    DescriptionPool<acldvppChannelDesc>::destroy(channelDesc);
  });
}
aclError acldvppSetChannelDescMode(acldvppChannelDesc* channelDesc, uint32_t mode) {
  return call("acldvppSetChannelDescMode", [&] {
    constexpr uint32_t kKnown = DVPP_CHNMODE_VPC | DVPP_CHNMODE_JPEGD | DVPP_CHNMODE_JPEGE;
    if (mode == 0 || (mode & ~kKnown) != 0)
      fail(Code::kInvalidParam, "mode is {}; it is made of the bits 1 (VPC), 2 (JPEGD) and 4 (JPEGE)", mode);
    described(channelDesc, "channelDesc").mode = mode;
  });
}
aclError acldvppSetChannelDescParam(acldvppChannelDesc* channelDesc, acldvppChannelDescParamType paramType,
                                    size_t length, const void* param) {
  return call("acldvppSetChannelDescParam", [&] {
    check_parameter(paramType, length);
    uint32_t matrix = 0;
    std::memcpy(&matrix, given(param, "param"), sizeof(matrix));
    if (matrix > ACL_DVPP_CSC_MATRIX_BT2020_NARROW)
      fail(Code::kInvalidParam, "the matrix is {}; it lies between 0 and 5", matrix);
    described(channelDesc, "channelDesc").matrix = matrix;
  });
}
aclError acldvppGetChannelDescParam(const acldvppChannelDesc* channelDesc, acldvppChannelDescParamType paramType,
                                    size_t length, size_t* paramRetSize, void* param) {
  return call("acldvppGetChannelDescParam", [&] {
    check_parameter(paramType, length);
    const uint32_t matrix = described(channelDesc, "channelDesc").matrix;
    given(param, "param");
    result(paramRetSize, "paramRetSize") = sizeof(matrix);
    std::memcpy(param, &matrix, sizeof(matrix));
  });
}
uint64_t acldvppGetChannelDescChannelId(const acldvppChannelDesc* channelDesc) {
  return call_or<uint64_t>("acldvppGetChannelDescChannelId", 0,
                           [&] { return described(channelDesc, "channelDesc").id; });
}
aclError acldvppCreateChannel(acldvppChannelDesc* channelDesc) {
  return call("acldvppCreateChannel", [&] {
    static std::atomic<uint64_t> next = 0;
    acldvppChannelDesc& desc = described(channelDesc, "channelDesc");
    if (desc.id != 0) fail(Code::kInvalidParam, "the channel is open already; describe another one");
    static_cast<void>(device::current_device());
    desc.id = ++next;
  });
}
aclError acldvppDestroyChannel(acldvppChannelDesc* channelDesc) {
  return call("acldvppDestroyChannel", [&] {
    acldvppChannelDesc& desc = described(channelDesc, "channelDesc");
    if (desc.id == 0) fail(Code::kInvalidParam, "the channel is not open");
    desc.id = 0;
  });
}
