// SPDX-License-Identifier: Apache-2.0
#include "acl/runtime/stream_attribute.h"

#include <map>
#include <mutex>

#include "acl/call.h"
#include "acl/include/acl/acl_rt.h"
#include "acl/notice.h"
#include "device/context/context.h"
#include "device/queue/stream.h"

namespace npu::acl {
namespace {

/// What nothing in a stream acts on.
struct Kept {
  uint32_t tag = 0;
  uint32_t cache_switch = 0;
};

struct Table {
  std::mutex mutex;
  std::map<const void*, Kept> of;  // by handle, which names no later stream
};

Table& table() {
  static Table& instance = *new Table;
  return instance;
}

uint32_t checked_switch(uint32_t value, const char* member) {
  if (value > 1) fail(Code::kRtParamInvalid, "value->{} is {}; it is 0 (off) or 1 (on)", member, value);
  return value;
}

void set(device::Stream& stream, aclrtStreamAttr attribute, const aclrtStreamAttrValue& value) {
  const std::lock_guard lock(table().mutex);
  switch (attribute) {
    case ACL_STREAM_ATTR_FAILURE_MODE: return set_failure_mode(stream, value.failureMode, "value->failureMode");
    case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
      return stream.set_overflow_switch(checked_switch(value.overflowSwitch, "overflowSwitch") == 1);
    case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
      if (value.userCustomTag != 0)
        tell_once(
            "ACL_STREAM_ATTR_USER_CUSTOM_TAG changes nothing: overflows are found for a whole device, whatever "
            "tags its streams have");
      table().of[stream.handle()].tag = value.userCustomTag;
      return;
    case ACL_STREAM_ATTR_CACHE_OP_INFO:
      table().of[stream.handle()].cache_switch = checked_switch(value.cacheOpInfoSwitch, "cacheOpInfoSwitch");
      return;
    default: fail(Code::kRtParamInvalid, "stmAttrType is {}; pass one from 1 to 4", static_cast<int>(attribute));
  }
}

aclrtStreamAttrValue get(const device::Stream& stream, aclrtStreamAttr attribute) {
  aclrtStreamAttrValue value{};
  const std::lock_guard lock(table().mutex);
  const auto found = table().of.find(stream.handle());
  const Kept kept = found == table().of.end() ? Kept{} : found->second;
  switch (attribute) {
    case ACL_STREAM_ATTR_FAILURE_MODE: value.failureMode = static_cast<uint64_t>(stream.failure_mode()); break;
    case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK: value.overflowSwitch = stream.overflow_switch() ? 1 : 0; break;
    case ACL_STREAM_ATTR_USER_CUSTOM_TAG: value.userCustomTag = kept.tag; break;
    case ACL_STREAM_ATTR_CACHE_OP_INFO: value.cacheOpInfoSwitch = kept.cache_switch; break;
    default: fail(Code::kRtParamInvalid, "stmAttrType is {}; pass one from 1 to 4", static_cast<int>(attribute));
  }
  return value;
}

}  // namespace

void set_failure_mode(device::Stream& stream, uint64_t mode, const char* argument) {
  if (mode > ACL_STOP_ON_FAILURE)
    fail(Code::kRtParamInvalid, "{} is {}; it is 0 (continue) or 1 (stop)", argument, mode);
  stream.set_failure_mode(static_cast<device::FailureMode>(mode));
}

void forget_attributes(const void* stream) {
  const std::lock_guard lock(table().mutex);
  table().of.erase(stream);
}

}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType, aclrtStreamAttrValue* value) {
  return call("aclrtSetStreamAttribute",
              [&] { set(device::stream_from_handle(stream), stmAttrType, *given(value, "value")); });
}
aclError aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType, aclrtStreamAttrValue* value) {
  return call("aclrtGetStreamAttribute",
              [&] { result(value, "value") = get(device::stream_from_handle(stream), stmAttrType); });
}
