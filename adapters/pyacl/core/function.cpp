// SPDX-License-Identifier: Apache-2.0
#include "adapters/pyacl/core/function.h"

#include <cstring>

namespace npu::pyacl {

const char* Function::base() const {
  const char* dot = std::strrchr(name, '.');
  return dot == nullptr ? name : dot + 1;
}

std::string Function::argument_name(int index) const {
  std::string_view rest = arguments;
  for (; index > 0 && rest.find(", ") != rest.npos; --index) rest.remove_prefix(rest.find(", ") + 2);
  return std::string(rest.substr(0, rest.find(", ")));
}

}  // namespace npu::pyacl
