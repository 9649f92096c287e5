// SPDX-License-Identifier: Apache-2.0
// Modes, timeouts and options that clients set and ask for.
#include "acl/call.h"
#include "acl/include/acl/acl_rt.h"
#include "device/context/context.h"
#include "device/context/state.h"
#include "device/queue/event.h"

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode) {
  return call("aclrtSetDeviceSatMode", [&] { device::set_overflow_mode(device::current_device(), mode); });
}
aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode* mode) {
  return call("aclrtGetDeviceSatMode", [&] {
    result(mode, "mode") = static_cast<aclrtFloatOverflowMode>(device::overflow_mode(device::current_device()));
  });
}

aclError aclrtSetOpWaitTimeout(uint32_t timeout) {
  return call("aclrtSetOpWaitTimeout", [&] { device::set_op_wait_timeout(timeout); });
}
aclError aclrtSetOpExecuteTimeOut(uint32_t timeout) {
  return call("aclrtSetOpExecuteTimeOut", [&] { device::set_op_execute_timeout_us(uint64_t{timeout} * 1'000'000); });
}
aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t* actualTimeout) {
  return call("aclrtSetOpExecuteTimeOutV2", [&] {
    given(actualTimeout, "actualTimeout");
    device::set_op_execute_timeout_us(timeout);
    *actualTimeout = device::op_execute_timeout_us();
  });
}

aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  return call("aclrtSetSysParamOpt", [&] { device::set_system_option(opt, value); });
}
aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
  return call("aclrtGetSysParamOpt", [&] { result(value, "value") = device::system_option(opt); });
}
aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  return call("aclrtCtxSetSysParamOpt", [&] { device::set_context_system_option(opt, value); });
}
aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
  return call("aclrtCtxGetSysParamOpt", [&] {
    device::current_context();  // without a context there is nothing to ask
    result(value, "value") = device::system_option(opt);
  });
}
