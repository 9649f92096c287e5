// SPDX-License-Identifier: Apache-2.0
#include "graph/run/conversions.h"

#include <utility>

namespace npu::graph {

std::optional<Literal> Conversions::find(const Literal& from, DType to) {
  const std::lock_guard lock(mutex_);
  const auto at = kept_.find({from.bytes.get(), from.type.dtype, to});
  if (at == kept_.end() || at->second.source.expired()) return {};
  std::shared_ptr<const void> keeper = at->second.keeper.lock();
  if (!keeper || !std::cmp_equal(at->second.bytes.size(), from.count() * static_cast<int64_t>(size_of(to)))) return {};
  return Literal{ValueType::tensor(to), from.shape, Elements(at->second.bytes, std::move(keeper)), nullptr};
}

void Conversions::keep(const Literal& from, const Literal& to) {
  const std::lock_guard lock(mutex_);
  std::erase_if(kept_, [](const auto& one) { return one.second.keeper.expired() || one.second.source.expired(); });
  const std::shared_ptr<const void> source = from.bytes, keeper = to.bytes;
  kept_.insert_or_assign({from.bytes.get(), from.type.dtype, to.type.dtype}, Kept{source, keeper, *to.bytes});
}

}  // namespace npu::graph
