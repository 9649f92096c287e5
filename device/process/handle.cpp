// SPDX-License-Identifier: Apache-2.0
#include "device/process/handle.h"

#include <string_view>

namespace npu::device {
namespace {

std::string_view name_of(uint8_t kind) {
  switch (static_cast<HandleKind>(kind)) {
    case HandleKind::kContext: return "a context";
    case HandleKind::kStream: return "a stream";
    case HandleKind::kEvent: return "an event";
    case HandleKind::kPhysical: return "physical memory";
    case HandleKind::kGraph: return "a recorded graph";
    case HandleKind::kTaskGroup: return "a task group";
  }
  return "";
}

}  // namespace

void refuse_handle(HandleKind wanted, const void* handle) {
  const std::string_view want = name_of(static_cast<uint8_t>(wanted));
  if (handle == nullptr) fail(Code::kRtInvalidHandle, "the handle of {} is null", want);
  const auto value = reinterpret_cast<uint64_t>(handle);
  const std::string_view got = name_of(static_cast<uint8_t>(value >> 56));
  if (got == want)
    fail(Code::kRtInvalidHandle, "{} is the handle of {} that was destroyed; do not use it any more", handle, want);
  if (!got.empty())
    fail(Code::kRtInvalidHandle, "{} is the handle of {}; that of {} is needed here", handle, got, want);
  fail(Code::kRtInvalidHandle, "{} is not the handle of {}; pass what its create call returned", handle, want);
}

}  // namespace npu::device
