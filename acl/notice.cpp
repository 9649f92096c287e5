// SPDX-License-Identifier: Apache-2.0
#include "acl/notice.h"

#include <mutex>
#include <set>
#include <string>

#include "base/log.h"

namespace npu::acl {

bool print_once(std::string_view key, std::string_view text) noexcept try {
  static std::mutex& mutex = *new std::mutex;
  static auto& told = *new std::set<std::string, std::less<>>;
  const std::lock_guard lock(mutex);
  if (!told.emplace(key).second) return false;
  fmt::print(stderr, "[WARNING] anynpu: {}\n", text);
  return true;
} catch (...) {  // a line that cannot be written must not become the client's failure
  return false;
}

void tell_once(std::string_view text) noexcept try {
  if (print_once(text, text)) NPU_LOG(kWarning, "ASCENDCL", "{}", text);
} catch (...) {  // nor one of the log
}

}  // namespace npu::acl
