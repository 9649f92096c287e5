// SPDX-License-Identifier: Apache-2.0
#include "base/dims.h"

#include <fmt/ranges.h>

namespace npu {

std::string to_string(const Dims& shape) {
  if (shape.empty()) return "scalar";
  return fmt::format("{}", fmt::join(shape.begin(), shape.end(), "x"));
}

int64_t detail::count_of_overflow(const Dims& shape) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  fail(Code::kNnInvalidParam, "shape {} has more elements than 64 bits can count", shape);
}

Dims broadcast(const Dims& a, const Dims& b) {
  const Dims& longer = a.size() >= b.size() ? a : b;
  const Dims& shorter = a.size() >= b.size() ? b : a;
  Dims out = longer;
  const size_t lead = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    int64_t& size = out[lead + i];
    if (size == shorter[i] || shorter[i] == 1) continue;
    require(size == 1, "shapes {} and {} do not broadcast: sizes {} and {} differ and neither is 1", a, b, size,
            shorter[i]);
    size = shorter[i];
  }
  return out;
}

size_t wrap_dim(int64_t dim, size_t rank) {
  const auto n = static_cast<int64_t>(std::max<size_t>(rank, 1));
  require(dim >= -n && dim < n, "dimension {} is out of range; a tensor of rank {} takes {} to {}", dim, rank, -n,
          n - 1);
  return static_cast<size_t>(dim < 0 ? dim + n : dim);
}

}  // namespace npu

fmt::format_context::iterator fmt::formatter<npu::Dims>::format(const npu::Dims& d, format_context& ctx) const {
  return fmt::format_to(ctx.out(), "{}", npu::to_string(d));
}
