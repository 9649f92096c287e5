// SPDX-License-Identifier: Apache-2.0
#include "acl/runtime/notice.h"

#include <mutex>
#include <set>
#include <string>

#include "base/log.h"

namespace npu::acl {

void tell_once(std::string_view text) noexcept try {
  static std::mutex& mutex = *new std::mutex;
  static auto& told = *new std::set<std::string, std::less<>>;
  const std::lock_guard lock(mutex);
  if (!told.emplace(text).second) return;
  fmt::print(stderr, "[WARNING] anynpu: {}\n", text);
  NPU_LOG(kWarning, "ASCENDCL", "{}", text);
} catch (...) {
  // A line that cannot be written must not become the client's failure.
}

}  // namespace npu::acl
