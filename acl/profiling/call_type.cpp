// SPDX-License-Identifier: Apache-2.0
#include "acl/profiling/call_type.h"

#include <algorithm>

namespace npu::acl {
namespace {

struct Row {
  std::string_view call, type;
};
constexpr Row kRows[] = {
#include "call_types.inc"
};
static_assert(std::ranges::is_sorted(kRows, {}, &Row::call));

}  // namespace

std::string_view type_of_call(std::string_view call) {
  const Row* const row = std::ranges::lower_bound(kRows, call, {}, &Row::call);
  return row != std::end(kRows) && row->call == call ? row->type : call;
}

}  // namespace npu::acl
