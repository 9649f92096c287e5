// SPDX-License-Identifier: Apache-2.0
#include "graph/ir/kind.h"

#include <algorithm>
#include <iterator>

namespace npu::graph {
namespace {

constexpr bool in_order() {
  for (size_t i = 0; i < std::size(kKinds); ++i)
    if (static_cast<size_t>(kKinds[i].kind) != i) return false;
  return std::size(kKinds) == static_cast<size_t>(Kind::kCount);
}
static_assert(in_order(), "kKinds has a row for each kind, in the order of the enum");

}  // namespace

Kind kind_named(std::string_view name) {
  const auto* at =
      std::find_if(std::begin(kKinds), std::end(kKinds), [&](const KindRow& row) { return row.name == name; });
  return at == std::end(kKinds) ? Kind::kOpaque : at->kind;
}

std::string_view to_string(const NodeType& type) { return type.kind == Kind::kOpaque ? type.op : name_of(type.kind); }

}  // namespace npu::graph
