// SPDX-License-Identifier: Apache-2.0
#include "acl/unsupported.h"

#include <algorithm>
#include <mutex>
#include <string_view>
#include <vector>

#include "acl/runtime/call.h"

namespace npu::acl {
namespace {

/// torch-npu asks for some features and drops the code; without a line on stderr its user waits for files that nobody
/// writes.
void tell_once(const UnsupportedFeature& feature) {
  static std::mutex& mutex = *new std::mutex;
  static auto& told = *new std::vector<std::string_view>;
  const std::lock_guard lock(mutex);
  if (std::ranges::find(told, feature.feature) != told.end()) return;
  told.emplace_back(feature.feature);
  fmt::print(stderr, "[WARNING] anynpu: {} ({}): {}\n", feature.feature, feature.name, feature.text);
}

}  // namespace

int refuse_unsupported(const UnsupportedFeature& feature) noexcept {
  return call(feature.name, [&] {
    tell_once(feature);
    fail(Code::kFeatureUnsupported, "{}: {}", feature.feature, feature.text);
  });
}

}  // namespace npu::acl
