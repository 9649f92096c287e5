// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/fact/purpose.h"

#include <utility>

namespace npu::profile {
namespace {

/// By what its name begins with, the longer one first.
constexpr std::pair<std::string_view, Purpose> kBeginnings[] = {
    {"aclrtSynchronize", Purpose::kWait},  {"aclrtMemcpy", Purpose::kCopy},
    {"aclrtMemset", Purpose::kCopy},       {"anynpu_library_run_node", Purpose::kQueue},
    {"anynpu_library_run", Purpose::kRun}, {"anynpu_library_add", Purpose::kDefine},
};

}  // namespace

Purpose purpose_of(const Trace& trace, const CallRecord& call) {
  if (call.level != device::trace::Level::kRuntime) return Purpose::kQueue;
  const std::string_view name = trace.text(call.name);
  for (const auto& [beginning, purpose] : kBeginnings)
    if (name.starts_with(beginning)) return purpose;
  return Purpose::kQueue;
}

}  // namespace npu::profile
