// SPDX-License-Identifier: Apache-2.0
#include "acl/singleop/function.h"

#include "base/error.h"

namespace npu::acl {
namespace {

const Function* find_function(std::string_view name) {
  for (const std::span<const Function> functions : {view_functions(), part_functions()})
    for (const Function& function : functions)
      if (function.name == name) return &function;
  return nullptr;
}

}  // namespace

// When the table is read, so that a call cannot meet a function that is not there.
void check_function(std::string_view function, size_t arguments) {
  const Function* found = find_function(function);
  require(found != nullptr, "there is no function {}", function);
  require(found->arguments == arguments, "{} takes {} arguments, got {}", function, found->arguments, arguments);
}

bool asks_sizes(std::string_view function) {
  const Function* found = find_function(function);
  return found != nullptr && found->sizes;
}

Value apply_function(std::string_view function, const Arguments& arguments) {
  return find_function(function)->apply(arguments);
}

}  // namespace npu::acl
