// SPDX-License-Identifier: Apache-2.0
#include "graph/ir/ir_type.h"

#include <algorithm>

namespace npu::graph {
namespace {

struct Row {
  std::string_view op, types;  ///< types: separated by blanks
};

constexpr Row kRows[] = {
#include "ops.inc"
};

std::string_view take_first(std::string_view& types) {
  const std::string_view first = types.substr(0, types.find(' '));
  types.remove_prefix(std::min(types.size(), first.size() + 1));
  return first;
}

}  // namespace

std::string_view ir_types(std::string_view op) {
  const auto* at = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& row) { return row.op == op; });
  return at == std::end(kRows) ? op : at->types;
}

std::string_view ir_type(std::string_view op) {
  std::string_view types = ir_types(op);
  return take_first(types);
}

bool is_called(std::string_view op, std::string_view name) {
  if (op == name) return true;
  for (std::string_view types = ir_types(op); !types.empty();)
    if (take_first(types) == name) return true;
  return false;
}

std::vector<std::string_view> listed_operators() {
  std::vector<std::string_view> out;
  for (const Row& row : kRows) out.push_back(row.op);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace npu::graph
