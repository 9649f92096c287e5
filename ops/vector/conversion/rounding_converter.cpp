// SPDX-License-Identifier: Apache-2.0
#include "ops/vector/conversion/rounding_converter.h"

#include <type_traits>

#include "ops/vector/conversion/stored.h"

namespace npu::ops {
namespace {

template <class From, class Through>
void convert(const void* from_raw, int64_t from_stride, void* to_raw, int64_t to_stride, int64_t count) {
  const auto* from = static_cast<const Stored<From>*>(from_raw);
  auto* to = static_cast<float*>(to_raw);
  for (int64_t i = 0; i < count; ++i) {
    const auto value = static_cast<float>(value_of<From>(from[i * from_stride]));
    to[i * to_stride] = static_cast<float>(Through(value));
  }
}

}  // namespace

Convert rounding_converter(DType from, DType through) {
  Convert found = nullptr;
  visit_dtype(from, [&](auto f) {
    using From = decltype(f);
    if constexpr (!std::is_same_v<From, Complex64> && !std::is_same_v<From, Complex128>)
      found = through == DType::kHalf ? &convert<From, Half> : &convert<From, BFloat16>;
  });
  return found;
}

}  // namespace npu::ops
