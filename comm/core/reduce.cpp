// SPDX-License-Identifier: Apache-2.0
#include "comm/core/reduce.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

#include "ops/vector/conversion/convert.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "comm/core/reduce.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace npu::comm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A part of this many elements stays in the first cache while all ranks' elements are added to it.
constexpr uint64_t kPart = 1024;

template <class T>
HWY_INLINE T wrapped(ReduceOp op, T a, T b) {
  using U = std::make_unsigned_t<T>;
  // 16-bit factors would be multiplied as signed ints, which may overflow.
  using Wide = std::conditional_t<(sizeof(U) < 4), uint32_t, U>;
  if (op == ReduceOp::kSum) return static_cast<T>(static_cast<Wide>(static_cast<U>(a)) + static_cast<U>(b));
  return static_cast<T>(static_cast<Wide>(static_cast<U>(a)) * static_cast<U>(b));
}

template <ReduceOp op, class T>
HWY_INLINE T combine(T a, T b) {
  if constexpr (op == ReduceOp::kMax || op == ReduceOp::kMin) {
    const bool keep = op == ReduceOp::kMax ? a >= b : a <= b;
    if constexpr (std::is_floating_point_v<T>) return keep || a != a ? a : b;  // NaN stays
    return keep ? a : b;
  } else if constexpr (std::is_floating_point_v<T>) {
    return op == ReduceOp::kSum ? a + b : a * b;
  } else {
    return wrapped(op, a, b);
  }
}

// `a` may be the sum itself. What comes over a network lies anywhere.
template <ReduceOp op, class T>
void fold(T* sum, const std::byte* a, const std::byte* b, uint64_t count) {
  using Anywhere [[gnu::aligned(1), gnu::may_alias]] = T;
  const auto* left = reinterpret_cast<const Anywhere*>(a);
  const auto* right = reinterpret_cast<const Anywhere*>(b);
#pragma GCC ivdep
  for (uint64_t i = 0; i < count; ++i) sum[i] = combine<op, T>(left[i], right[i]);
}

template <class T>
void fold_any(ReduceOp op, T* sum, const std::byte* a, const std::byte* b, uint64_t count) {
  switch (op) {
    case ReduceOp::kSum: return fold<ReduceOp::kSum>(sum, a, b, count);
    case ReduceOp::kProd: return fold<ReduceOp::kProd>(sum, a, b, count);
    case ReduceOp::kMax: return fold<ReduceOp::kMax>(sum, a, b, count);
    case ReduceOp::kMin: return fold<ReduceOp::kMin>(sum, a, b, count);
  }
}

// Writes without reading the line first. Falls back where addresses do not allow it.
void copy_past_cache(std::byte* to, const std::byte* from, uint64_t bytes) {
  const hn::ScalableTag<uint8_t> d;
  const uint64_t lanes = hn::Lanes(d);
  uint64_t i = std::min<uint64_t>(bytes, (lanes - reinterpret_cast<uintptr_t>(to) % lanes) % lanes);
  std::memcpy(to, from, i);
  for (; i + lanes <= bytes; i += lanes)
    hn::Stream(hn::LoadU(d, reinterpret_cast<const uint8_t*>(from + i)), d, reinterpret_cast<uint8_t*>(to + i));
  std::memcpy(to + i, from + i, bytes - i);
  hwy::FlushStream();
}

void put(std::byte* to, const std::byte* from, uint64_t bytes, bool past_cache) {
  if (past_cache)
    copy_past_cache(to, from, bytes);
  else
    std::memcpy(to, from, bytes);
}

// T in memory, S to compute in.
template <class T, class S>
void reduce_as(ReduceOp op, std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
               uint64_t count, bool past_cache) {
  constexpr bool kSame = std::is_same_v<T, S>;
  const ops::Convert widen = kSame ? nullptr : ops::converter(dtype_of<T>, dtype_of<S>);
  const ops::Convert narrow = kSame ? nullptr : ops::converter(dtype_of<S>, dtype_of<T>);
  alignas(64) S sum[kPart];
  alignas(64) S wide[kSame ? 1 : kPart];
  alignas(64) T result[kPart];
  for (uint64_t begin = 0; begin < count; begin += kPart) {
    const uint64_t part = std::min(kPart, count - begin);
    const auto slots = [&](size_t rank, S* place) {
      const std::byte* from = inputs[rank] + begin * sizeof(T);
      if constexpr (kSame) return from;
      if (reinterpret_cast<uintptr_t>(from) % alignof(T) != 0) [[unlikely]] {
        std::memcpy(result, from, part * sizeof(T));
        from = reinterpret_cast<const std::byte*>(result);
      }
      widen(from, 1, place, 1, static_cast<int64_t>(part));
      return reinterpret_cast<const std::byte*>(place);
    };
    const std::byte* out = slots(0, sum);
    for (size_t rank = 1; rank < inputs.size(); ++rank, out = reinterpret_cast<const std::byte*>(sum))
      fold_any<S>(op, sum, out, slots(rank, wide), part);
    if constexpr (!kSame) {
      narrow(out, 1, result, 1, static_cast<int64_t>(part));
      out = reinterpret_cast<const std::byte*>(result);
    }
    for (std::byte* to : outputs) put(to + begin * sizeof(T), out, part * sizeof(T), past_cache);
  }
}

bool reduce_any(DType dtype, ReduceOp op, std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
                uint64_t count, bool past_cache) {
  bool done = false;
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      reduce_as<T, float>(op, inputs, outputs, count, past_cache);
      done = true;
    } else if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
      reduce_as<T, T>(op, inputs, outputs, count, past_cache);
      done = true;
    }
  });
  return done;
}

}  // namespace npu::comm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::comm {
namespace {

HWY_EXPORT(reduce_any);
HWY_EXPORT(copy_past_cache);

// Copies from this size on would push everything else out of the cache.
constexpr uint64_t kLarge = uint64_t{4} << 20;

}  // namespace

bool can_reduce(DType dtype) {
  return dtype != DType::kBool && !is_complex(dtype) && (is_integer(dtype) || is_floating(dtype)) &&
         visit_dtype(dtype, [](auto) {});
}

void reduce(DType dtype, ReduceOp op, std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
            uint64_t count, bool past_cache) {
  HWY_DYNAMIC_DISPATCH(reduce_any)(dtype, op, inputs, outputs, count, past_cache);
}

void merge(const Merge& with, std::byte* sum, uint64_t offset, std::span<const std::byte> data) {
  const std::byte* const own = with.own + offset;
  std::array<const std::byte*, 2> inputs = {own, data.data()};
  if (!with.own_first) std::swap(inputs[0], inputs[1]);
  std::byte* const to = sum + offset;
  reduce(with.dtype, with.op, inputs, {&to, 1}, data.size() / size_of(with.dtype), with.past_cache);
}

void copy(std::byte* to, const std::byte* from, uint64_t bytes) {
  if (to == from || bytes == 0) return;
  if (bytes < kLarge) return static_cast<void>(std::memmove(to, from, bytes));
  HWY_DYNAMIC_DISPATCH(copy_past_cache)(to, from, bytes);
}

}  // namespace npu::comm
#endif
