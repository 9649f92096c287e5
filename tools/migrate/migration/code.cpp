// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/migration/code.h"

#include <map>

namespace npu::migrate {
namespace {

std::map<std::string, Code>& entries() {
  static std::map<std::string, Code> made;
  return made;
}

}  // namespace

CodeEntry::CodeEntry(const char* name, Code function) { entries()[name] = function; }

Code find_code(const std::string& name) {
  const auto found = entries().find(name);
  return found == entries().end() ? nullptr : found->second;
}

}  // namespace npu::migrate
