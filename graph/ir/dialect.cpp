// SPDX-License-Identifier: Apache-2.0
#include "graph/ir/dialect.h"

#include "base/error.h"
#include "base/split.h"

namespace npu::graph {

Dialect::Dialect(std::span<const Row> rows, Encode encode)
    : spellings_(static_cast<size_t>(Kind::kCount)), encode_(encode) {
  for (const Row& row : rows) {
    const Kind kind = kind_named(row.kind);
    auto& own = spellings_[static_cast<size_t>(kind)];
    if (kind == Kind::kOpaque || !own.empty()) fail(Code::kInternal, "{} is no kind, or stands twice", row.kind);
    own = split(row.spellings, " ");
    for (const std::string_view op : own)
      if (!kinds_.emplace(op, kind).second) fail(Code::kInternal, "{} is said to be of two kinds", op);
  }
}

Kind Dialect::kind_of(std::string_view op) const {
  const auto at = kinds_.find(op);
  return at == kinds_.end() ? Kind::kOpaque : at->second;
}

std::string Dialect::spelling(Kind kind) const {
  if (spellings(kind).empty()) fail(Code::kInternal, "the client has no word for {}", name_of(kind));
  return std::string(spellings(kind).front());
}

}  // namespace npu::graph
