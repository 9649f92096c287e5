// SPDX-License-Identifier: Apache-2.0
// All conversions are one template, instantiated for pairs of which one side is a slot: some 150 functions instead of a
// kernel per operator and pair of types.
#include "ops/vector/conversion/convert.h"

#include <bit>
#include <type_traits>

#include "ops/vector/conversion/stored.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/vector/conversion/convert.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
constexpr bool is_complex_v = std::is_same_v<T, Complex64> || std::is_same_v<T, Complex128>;
template <class T>
constexpr bool is_half_v = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

template <class To, class From>
HWY_INLINE To to_real(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // Narrow signed types go through int32 as x86 compilers do; NaN and infinities then give the same bits.
    using Wide = std::conditional_t<std::is_signed_v<To> && sizeof(To) <= 4, int32_t, int64_t>;
    return static_cast<To>(static_cast<Wide>(x));
  } else if constexpr (is_half_v<To>) {
    // Doubles and integers reach a half by way of float, as torch's halves are built from floats only.
    return To(static_cast<float>(x));
  } else {
    return static_cast<To>(x);
  }
}

template <class To, class From>
HWY_INLINE To to(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (is_half_v<From>) {
    return to<To>(static_cast<float>(x));
  } else if constexpr (is_complex_v<From> && is_complex_v<To>) {
    using R = typename To::value_type;
    return To(static_cast<R>(x.real()), static_cast<R>(x.imag()));
  } else if constexpr (is_complex_v<From>) {
    if constexpr (std::is_same_v<To, bool>)
      return x.real() != 0 || x.imag() != 0;
    else
      // The imaginary part is dropped, as in torch.
      return to_real<To>(x.real());
  } else if constexpr (is_complex_v<To>) {
    return To(static_cast<typename To::value_type>(x), 0);
  } else {
    return to_real<To>(x);
  }
}

// Half <-> float has instructions that plain loops do not reach.
HWY_INLINE int64_t widen_half(const Half* from, float* out, int64_t count) {
  const hn::ScalableTag<float> df;
  const hn::Rebind<hwy::float16_t, decltype(df)> dh;
  const auto lanes = static_cast<int64_t>(hn::Lanes(df));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(hn::PromoteTo(df, hn::LoadU(dh, reinterpret_cast<const hwy::float16_t*>(from + i))), df, out + i);
  }
  return i;
}

HWY_INLINE int64_t narrow_half(const float* from, Half* out, int64_t count) {
  const hn::ScalableTag<float> df;
  const hn::Rebind<hwy::float16_t, decltype(df)> dh;
  const auto lanes = static_cast<int64_t>(hn::Lanes(df));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(hn::DemoteTo(dh, hn::LoadU(df, from + i)), dh, reinterpret_cast<hwy::float16_t*>(out + i));
  }
  return i;
}

// Written on bits so that the compiler turns the loop into vector code.
HWY_INLINE uint16_t bf16_bits(float value) {
  const uint32_t f = std::bit_cast<uint32_t>(value);
  // To nearest, ties to even: the sum carries where the lower half is above the middle, or at it under an odd number.
  const uint32_t rounded = (f + 0x7fffu + ((f >> 16) & 1u)) >> 16;
  // A NaN whose digits are all in the lower half would become an infinity.
  const uint32_t quiet = (f >> 16) | 0x40u;
  return static_cast<uint16_t>((f & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
}

template <class From, class To>
HWY_INLINE void convert_dense(const Stored<From>* HWY_RESTRICT from, To* HWY_RESTRICT out, int64_t count) {
  int64_t i = 0;
  if constexpr (std::is_same_v<From, BFloat16> && std::is_same_v<To, float>) {
    const auto* bits = reinterpret_cast<const uint16_t*>(from);
    auto* words = reinterpret_cast<uint32_t*>(out);
    for (; i < count; ++i) words[i] = static_cast<uint32_t>(bits[i]) << 16;
  } else if constexpr (std::is_same_v<From, float> && std::is_same_v<To, BFloat16>) {
    auto* bits = reinterpret_cast<uint16_t*>(out);
    for (; i < count; ++i) bits[i] = bf16_bits(from[i]);
  } else {
    if constexpr (HWY_TARGET != HWY_BASELINE_TARGETS) {
      if constexpr (std::is_same_v<From, Half> && std::is_same_v<To, float>) i = widen_half(from, out, count);
      if constexpr (std::is_same_v<From, float> && std::is_same_v<To, Half>) i = narrow_half(from, out, count);
    }
    for (; i < count; ++i) out[i] = to<To>(value_of<From>(from[i]));
  }
}

template <class From, class To>
void convert(const void* from_raw, int64_t from_stride, void* to_raw, int64_t to_stride, int64_t count) {
  const auto* from = static_cast<const Stored<From>*>(from_raw);
  auto* out = static_cast<To*>(to_raw);
  if (from_stride == 1 && to_stride == 1) {
    convert_dense<From>(from, out, count);
  } else if (from_stride == 0 && to_stride == 1) {
    // One number for many is converted once.
    const To value = to<To>(value_of<From>(*from));
    for (int64_t i = 0; i < count; ++i) out[i] = value;
  } else {
    for (int64_t i = 0; i < count; ++i) out[i * to_stride] = to<To>(value_of<From>(from[i * from_stride]));
  }
}

template <class T>
constexpr bool is_slot_v = std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, int64_t> ||
                           std::is_same_v<T, bool> || is_complex_v<T>;

Convert find(DType from, DType to) {
  Convert found = nullptr;
  visit_dtype(from, [&](auto f) {
    visit_dtype(to, [&](auto t) {
      using From = decltype(f);
      using To = decltype(t);
      if constexpr (is_slot_v<From> || is_slot_v<To> || std::is_same_v<From, To>) found = &convert<From, To>;
    });
  });
  return found;
}

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {
namespace {

HWY_EXPORT(find);

constexpr size_t kTypes = 40;

// Filled once for the CPU at hand: a look-up is then an index, without asking for the instruction set again.
struct Table {
  Convert cells[kTypes][kTypes] = {};
  Table() {
    for (size_t f = 0; f < kTypes; ++f) {
      for (size_t t = 0; t < kTypes; ++t) {
        cells[f][t] = HWY_DYNAMIC_DISPATCH(find)(static_cast<DType>(f), static_cast<DType>(t));
      }
    }
  }
};

}  // namespace

Convert converter(DType from, DType to) {
  static const Table& table = *new Table;
  const auto f = static_cast<size_t>(from);
  const auto t = static_cast<size_t>(to);
  return f < kTypes && t < kTypes ? table.cells[f][t] : nullptr;
}

DType slot_of(DType dtype) {
  switch (dtype) {
    case DType::kHalf:
    case DType::kBFloat16: return DType::kFloat;
    case DType::kFloat:
    case DType::kDouble:
    case DType::kBool:
    case DType::kComplex64:
    case DType::kComplex128: return dtype;
    // Every integer is computed as int64; what is stored again wraps to the width of its type.
    default: return is_integer(dtype) ? DType::kInt64 : DType::kUndefined;
  }
}

}  // namespace npu::ops
#endif
