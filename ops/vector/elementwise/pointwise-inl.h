// SPDX-License-Identifier: Apache-2.0
// Kernels of one-expression operators, built once per instruction set: the guard lets each set include the file once.
#if defined(NPU_OPS_VECTOR_ELEMENTWISE_POINTWISE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NPU_OPS_VECTOR_ELEMENTWISE_POINTWISE_INL_H_
#undef NPU_OPS_VECTOR_ELEMENTWISE_POINTWISE_INL_H_
#else
#define NPU_OPS_VECTOR_ELEMENTWISE_POINTWISE_INL_H_
#endif

#include <cstdint>
#include <type_traits>

#include "ops/vector/elementwise/pointwise.h"
#include "ops/vector/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

template <class R>
constexpr DType slot_for() {
  if constexpr (std::is_same_v<R, bool>)
    return DType::kBool;
  else
    return dtype_of<R>;
}

// The loops. Types of the inputs are those of the slot, except a leading condition.
template <class T, class F>
// An output may be one of the inputs, position by position: no iteration depends on another, which ivdep tells the
// compiler.
void point1(const void* const* in, void* out, int64_t count) {
  const auto* x = static_cast<const T*>(in[0]);
  using R = decltype(F{}(T{}));
  auto* r = static_cast<R*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) r[i] = F{}(x[i]);
}

template <class T, class F>
void point2(const void* const* in, void* out, int64_t count) {
  const auto* x = static_cast<const T*>(in[0]);
  const auto* y = static_cast<const T*>(in[1]);
  using R = decltype(F{}(T{}, T{}));
  auto* r = static_cast<R*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) r[i] = F{}(x[i], y[i]);
}

template <class T, class F, class First>
void point3(const void* const* in, void* out, int64_t count) {
  const auto* x = static_cast<const First*>(in[0]);
  const auto* y = static_cast<const T*>(in[1]);
  const auto* z = static_cast<const T*>(in[2]);
  using R = decltype(F{}(First{}, T{}, T{}));
  auto* r = static_cast<R*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) r[i] = F{}(x[i], y[i], z[i]);
}

template <class T, class F>
void point4(const void* const* in, void* out, int64_t count) {
  const auto* x = static_cast<const T*>(in[0]);
  const auto* y = static_cast<const T*>(in[1]);
  const auto* z = static_cast<const T*>(in[2]);
  const auto* w = static_cast<const T*>(in[3]);
  using R = decltype(F{}(T{}, T{}, T{}, T{}));
  auto* r = static_cast<R*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) r[i] = F{}(x[i], y[i], z[i], w[i]);
}

template <class T, class F>
void point5(const void* const* in, void* out, int64_t count) {
  const auto* x = static_cast<const T*>(in[0]);
  const auto* y = static_cast<const T*>(in[1]);
  const auto* z = static_cast<const T*>(in[2]);
  const auto* w = static_cast<const T*>(in[3]);
  const auto* v = static_cast<const T*>(in[4]);
  using R = decltype(F{}(T{}, T{}, T{}, T{}, T{}));
  auto* r = static_cast<R*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) r[i] = F{}(x[i], y[i], z[i], w[i], v[i]);
}

template <class T, class F, int kInputs, uint32_t kTypes>
constexpr PointKernel point_kernel() {
  using First = std::conditional_t<(kTypes & kCondition) != 0, bool, T>;
  if constexpr (kInputs == 1)
    return {&point1<T, F>, slot_for<decltype(F{}(T{}))>()};
  else if constexpr (kInputs == 2)
    return {&point2<T, F>, slot_for<decltype(F{}(T{}, T{}))>()};
  else if constexpr (kInputs == 3)
    return {&point3<T, F, First>, slot_for<decltype(F{}(First{}, T{}, T{}))>()};
  else if constexpr (kInputs == 4)
    return {&point4<T, F>, slot_for<decltype(F{}(T{}, T{}, T{}, T{}))>()};
  else
    return {&point5<T, F>, slot_for<decltype(F{}(T{}, T{}, T{}, T{}, T{}))>()};
}

template <int kInputs, uint32_t kTypes, class F>
constexpr PointOp point_op(const char* name, const char* fields, F) {
  PointOp op{name, fields, kTypes, kInputs, {}, {}, {}, {}, {}, {}};
  if constexpr ((kTypes & kReal) != 0) {
    op.f32 = point_kernel<float, F, kInputs, kTypes>();
    op.f64 = point_kernel<double, F, kInputs, kTypes>();
  }
  if constexpr ((kTypes & (kInteger | kBoolean)) != 0) op.i64 = point_kernel<int64_t, F, kInputs, kTypes>();
  if constexpr ((kTypes & kTruth) != 0) op.b8 = point_kernel<bool, F, kInputs, kTypes>();
  if constexpr ((kTypes & kComplex) != 0) {
    op.c64 = point_kernel<Complex64, F, kInputs, kTypes>();
    op.c128 = point_kernel<Complex128, F, kInputs, kTypes>();
  }
  return op;
}

// Lines whose float expression holds for usual inputs only. Stretches without a rare element run as vector code; in the
// others the rare elements take `slow`, the C library's scalar way.
constexpr int64_t kStretch = 256;

template <class F, class Rare, class Slow>
void rare1(const void* const* in, void* out, int64_t count) {
  const auto* x = static_cast<const float*>(in[0]);
  auto* r = static_cast<float*>(out);
  for (int64_t begin = 0; begin < count; begin += kStretch) {
    const int64_t end = begin + kStretch < count ? begin + kStretch : count;
    int32_t any = 0;
    for (int64_t i = begin; i < end; ++i) any |= static_cast<int32_t>(Rare{}(x[i]));
    if (any == 0) {
#pragma GCC ivdep
      for (int64_t i = begin; i < end; ++i) r[i] = F{}(x[i]);
    } else {
      for (int64_t i = begin; i < end; ++i) r[i] = Rare{}(x[i]) ? Slow{}(x[i]) : F{}(x[i]);
    }
  }
}

template <class F, class Rare, class Slow>
void rare2(const void* const* in, void* out, int64_t count) {
  const auto* x = static_cast<const float*>(in[0]);
  const auto* y = static_cast<const float*>(in[1]);
  auto* r = static_cast<float*>(out);
  for (int64_t begin = 0; begin < count; begin += kStretch) {
    const int64_t end = begin + kStretch < count ? begin + kStretch : count;
    int32_t any = 0;
    for (int64_t i = begin; i < end; ++i) any |= static_cast<int32_t>(Rare{}(x[i], y[i]));
    if (any == 0) {
#pragma GCC ivdep
      for (int64_t i = begin; i < end; ++i) r[i] = F{}(x[i], y[i]);
    } else {
      for (int64_t i = begin; i < end; ++i) r[i] = Rare{}(x[i], y[i]) ? Slow{}(x[i], y[i]) : F{}(x[i], y[i]);
    }
  }
}

template <int kInputs, uint32_t kTypes, class F, class Rare, class Slow>
constexpr PointOp point_op_rare(const char* name, const char* fields, F expression, Rare, Slow) {
  PointOp op = point_op<kInputs, kTypes>(name, fields, expression);
  if constexpr (kInputs == 1)
    op.f32.run = &rare1<F, Rare, Slow>;
  else
    op.f32.run = &rare2<F, Rare, Slow>;
  return op;
}

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#undef NPU_POINT1
#undef NPU_POINT2
#undef NPU_POINT3
#undef NPU_POINT4
#undef NPU_POINT5
#undef NPU_POINT1_RARE
#undef NPU_POINT2_RARE
#define NPU_POINT1(name, fields, types, expression) \
  point_op<1, (types)>(name, fields, [](auto x) HWY_ATTR { return expression; })
#define NPU_POINT2(name, fields, types, expression) \
  point_op<2, (types)>(name, fields, [](auto x, auto y) HWY_ATTR { return expression; })
#define NPU_POINT3(name, fields, types, expression) \
  point_op<3, (types)>(name, fields, [](auto x, auto y, auto z) HWY_ATTR { return expression; })
#define NPU_POINT4(name, fields, types, expression) \
  point_op<4, (types)>(name, fields, [](auto x, auto y, auto z, auto w) HWY_ATTR { return expression; })
#define NPU_POINT5(name, fields, types, expression) \
  point_op<5, (types)>(name, fields, [](auto x, auto y, auto z, auto w, auto v) HWY_ATTR { return expression; })
// `rare(x)` says where the float expression does not hold, `slow` is what does.
#define NPU_POINT1_RARE(name, fields, types, expression, rare, slow)                                           \
  point_op_rare<1, (types)>(                                                                                   \
      name, fields, [](auto x) HWY_ATTR { return expression; }, [](float x) HWY_ATTR -> bool { return rare; }, \
      [](float x) HWY_ATTR -> float { return slow; })
#define NPU_POINT2_RARE(name, fields, types, expression, rare, slow)    \
  point_op_rare<2, (types)>(                                            \
      name, fields, [](auto x, auto y) HWY_ATTR { return expression; }, \
      [](float x, float y) HWY_ATTR -> bool { return rare; }, [](float x, float y) HWY_ATTR -> float { return slow; })

// Ends a family's file: registers the lines that the function `list` of HWY_NAMESPACE returns. The file is compiled
// once per instruction set, and registers in the last pass only.
#undef NPU_POINT_FAMILY
#if HWY_ONCE
#define NPU_POINT_FAMILY(family, list)                                     \
  namespace npu::ops {                                                     \
  HWY_EXPORT(list);                                                        \
  const PointFamily register_##list(family, HWY_DYNAMIC_DISPATCH(list)()); \
  }
#else
#define NPU_POINT_FAMILY(family, list)
#endif
#endif
