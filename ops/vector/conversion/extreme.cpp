// SPDX-License-Identifier: Apache-2.0
// Works on bits: infinity and NaN are those with every bit of the exponent set, in all three formats, so halves need no
// conversion.
#include "ops/vector/conversion/extreme.h"

#include <algorithm>
#include <bit>

#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/vector/conversion/extreme.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

/// The largest exponent field among the elements: one pass without branches, which the compiler makes vectors of.
template <class Bits, Bits kExponent>
bool leaves(const void* elements, int64_t stride, int64_t count) {
  const auto* bits = static_cast<const Bits*>(elements);
  Bits largest = 0;
  if (stride == 1) {
    for (int64_t i = 0; i < count; ++i) largest = std::max(largest, static_cast<Bits>(bits[i] & kExponent));
  } else {
    for (int64_t i = 0; i < count; ++i) largest = std::max(largest, static_cast<Bits>(bits[i * stride] & kExponent));
  }
  return largest == kExponent;
}

template <class Bits, Bits kExponent>
void saturate(void* elements, int64_t stride, int64_t count) {
  constexpr Bits kMagnitude = static_cast<Bits>(~Bits{0}) >> 1;
  auto* bits = static_cast<Bits*>(elements);
  for (int64_t i = 0; i < count; ++i) {
    Bits& b = bits[i * stride];
    const Bits magnitude = b & kMagnitude, sign = static_cast<Bits>(b ^ magnitude);
    // The number before infinity in bits is the largest finite one.
    const Bits kept = magnitude == kExponent ? static_cast<Bits>(sign | (kExponent - 1)) : b;
    b = magnitude > kExponent ? Bits{0} : kept;
  }
}

bool leaves16(const void* e, int64_t stride, int64_t n) { return leaves<uint16_t, 0x7c00>(e, stride, n); }
bool leaves_b16(const void* e, int64_t stride, int64_t n) { return leaves<uint16_t, 0x7f80>(e, stride, n); }
bool leaves32(const void* e, int64_t stride, int64_t n) { return leaves<uint32_t, 0x7f800000>(e, stride, n); }
void saturate16(void* e, int64_t stride, int64_t n) { saturate<uint16_t, 0x7c00>(e, stride, n); }
void saturate_b16(void* e, int64_t stride, int64_t n) { saturate<uint16_t, 0x7f80>(e, stride, n); }
void saturate32(void* e, int64_t stride, int64_t n) { saturate<uint32_t, 0x7f800000>(e, stride, n); }

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {
namespace {

HWY_EXPORT(leaves16);
HWY_EXPORT(leaves_b16);
HWY_EXPORT(leaves32);
HWY_EXPORT(saturate16);
HWY_EXPORT(saturate_b16);
HWY_EXPORT(saturate32);

/// Once an overflow, so that it need not be fast.
template <class T, class Bits, Bits kExponent>
void tell(const void* elements, int64_t stride, int64_t count, Extremes& told) {
  constexpr Bits kMagnitude = static_cast<Bits>(~Bits{0}) >> 1;
  const auto* from = static_cast<const T*>(elements);
  for (int64_t i = 0; i < count; ++i) {
    const auto magnitude = static_cast<Bits>(std::bit_cast<Bits>(from[i * stride]) & kMagnitude);
    told.infinities += magnitude == kExponent;
    told.nans += magnitude > kExponent;
    told.saturated += magnitude == kExponent || magnitude == kExponent - 1;
    if (magnitude >= kExponent) continue;
    const auto value = static_cast<double>(static_cast<float>(from[i * stride]));
    told.least = told.any_finite ? std::min(told.least, value) : value;
    told.most = told.any_finite ? std::max(told.most, value) : value;
    told.any_finite = true;
  }
}

constexpr RangeKernel kHalf{
    [](const void* e, int64_t stride, int64_t n) { return HWY_DYNAMIC_DISPATCH(leaves16)(e, stride, n); },
    tell<Half, uint16_t, 0x7c00>,
    [](void* e, int64_t stride, int64_t n) {
      HWY_DYNAMIC_DISPATCH(saturate16)
      (e, stride, n);
    }};
constexpr RangeKernel kBFloat16{
    [](const void* e, int64_t stride, int64_t n) { return HWY_DYNAMIC_DISPATCH(leaves_b16)(e, stride, n); },
    tell<BFloat16, uint16_t, 0x7f80>,
    [](void* e, int64_t stride, int64_t n) {
      HWY_DYNAMIC_DISPATCH(saturate_b16)
      (e, stride, n);
    }};
constexpr RangeKernel kFloat{
    [](const void* e, int64_t stride, int64_t n) { return HWY_DYNAMIC_DISPATCH(leaves32)(e, stride, n); },
    tell<float, uint32_t, 0x7f800000>,
    [](void* e, int64_t stride, int64_t n) {
      HWY_DYNAMIC_DISPATCH(saturate32)
      (e, stride, n);
    }};

}  // namespace

const RangeKernel* range_kernel(DType dtype) {
  switch (dtype) {
    case DType::kHalf: return &kHalf;
    case DType::kBFloat16: return &kBFloat16;
    case DType::kFloat: return &kFloat;
    default: return nullptr;
  }
}

}  // namespace npu::ops
#endif
