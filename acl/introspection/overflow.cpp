// SPDX-License-Identifier: Apache-2.0
#include "anynpu/overflow.h"

#include "acl/call.h"
#include "device/context/overflow.h"
#include "device/context/state.h"
#include "device/process/soc.h"

namespace npu::acl {
namespace {

using Visit = void (*)(const anynpu_overflow* overflow, void* context);

void show(const device::Overflow& from, Visit visit, void* context) {
  const std::string text = device::to_string(from);
  anynpu_overflow out{};
  out.struct_size = sizeof out;
  out.device = from.device;
  out.step = from.step;
  out.function = from.function.c_str();
  out.node = from.node.c_str();
  out.type = from.type.c_str();
  out.output = from.output.c_str();
  out.dtype = static_cast<aclDataType>(from.dtype);
  out.rank = static_cast<int32_t>(from.shape.size());
  out.sizes = from.shape.data();
  out.least = from.least;
  out.most = from.most;
  out.infinities = from.infinities;
  out.nans = from.nans;
  out.saturated = from.saturated;
  out.text = text.c_str();
  visit(&out, context);
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError anynpu_set_overflow_mode(int32_t mode) {
  // All devices have one SoC, so that the first refuses what any would.
  return call("anynpu_set_overflow_mode", [&] {
    for (int device = 0; device < device::device_count(); ++device) device::set_overflow_mode(device, mode);
  });
}

aclError anynpu_overflow_mode(int32_t device, int32_t* mode) {
  return call("anynpu_overflow_mode",
              [&] { result(mode, "mode") = static_cast<int32_t>(device::overflow_mode(device)); });
}

aclError anynpu_detect_overflows(int32_t device, int32_t on) {
  return call("anynpu_detect_overflows", [&] { device::detect_overflows(device, on != 0); });
}

aclError anynpu_overflow_detection(int32_t device, int32_t* on) {
  return call("anynpu_overflow_detection", [&] { result(on, "on") = device::detects_overflows(device) ? 1 : 0; });
}

aclError anynpu_each_overflow(int32_t device, Visit visit, void* context) {
  return call("anynpu_each_overflow", [&] {
    if (visit == nullptr) fail(Code::kInvalidParam, "visit is null; pass the function to call");
    for (const device::Overflow& overflow : device::overflows(device)) show(overflow, visit, context);
  });
}

void anynpu_watch_overflows(Visit visit, void* context) {
  if (visit == nullptr) return device::watch_overflows({});
  device::watch_overflows([visit, context](const device::Overflow& overflow) { show(overflow, visit, context); });
}
