// SPDX-License-Identifier: Apache-2.0
#include "ops/vector/conversion/rounding_converter.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "ops/vector/conversion/stored.h"

namespace npu::ops {
namespace {

// Dense floats through a few halves at a time: both conversions have vector code.
template <class Through>
void round_dense(const float* from, float* to, int64_t count) {
  constexpr int64_t kStep = 256;
  std::array<Through, kStep> halves;
  const Convert narrow = converter(DType::kFloat, dtype_of<Through>),
                widen = converter(dtype_of<Through>, DType::kFloat);
  for (int64_t i = 0; i < count; i += kStep) {
    const int64_t n = std::min(kStep, count - i);
    narrow(from + i, 1, halves.data(), 1, n);
    widen(halves.data(), 1, to + i, 1, n);
  }
}

template <class From, class Through>
void convert(const void* from_raw, int64_t from_stride, void* to_raw, int64_t to_stride, int64_t count) {
  const auto* from = static_cast<const Stored<From>*>(from_raw);
  auto* to = static_cast<float*>(to_raw);
  if constexpr (std::is_same_v<From, float>) {
    if (from_stride == 1 && to_stride == 1) return round_dense<Through>(from, to, count);
  }
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
