// SPDX-License-Identifier: Apache-2.0
// Kernels of reductions, built once per instruction set. A reduction is a struct of static functions:
//
//   struct Sum {
//     template <class T> using Acc = …;             // what is kept: double for float
//     template <class T> using Lane = T;            // what a block of 1024 is reduced in
//     template <class A> static A init();
//     template <class T> static T map(T x, double param);
//     template <class A> static A combine(A a, A b);
//     template <class T, class A> static auto finish(A a, int64_t count, double param);
//   };
//
// Keep it in an unnamed namespace: two files may both have a Sum. The guard lets each
// instruction set include the file once.
#if defined(NPU_OPS_VECTOR_REDUCTION_REDUCTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NPU_OPS_VECTOR_REDUCTION_REDUCTION_INL_H_
#undef NPU_OPS_VECTOR_REDUCTION_REDUCTION_INL_H_
#else
#define NPU_OPS_VECTOR_REDUCTION_REDUCTION_INL_H_
#endif

#include <cstdint>
#include <type_traits>

#include "ops/vector/math/math-inl.h"
#include "ops/vector/reduction/reduction.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

template <class F, class T>
void reduction_init(void* acc, int64_t n) {
  using A = typename F::template Acc<T>;
  auto* a = static_cast<A*>(acc);
  for (int64_t i = 0; i < n; ++i) a[i] = F::template init<A>();
}

template <class F, class T>
void reduction_row(const void* x_raw, int64_t n, double param, void* acc) {
  using A = typename F::template Acc<T>;
  using L = typename F::template Lane<T>;
  // 32 running results let additions overlap and become vectors; they are fixed, not those of the CPU, and joined in
  // order. A lane sees 32 of 1024 elements, so little is lost even in float.
  constexpr int kLanes = 32;
  const auto* x = static_cast<const T*>(x_raw);
  auto* a = static_cast<A*>(acc);
  L lanes[kLanes];
  for (L& lane : lanes) lane = F::template init<L>();
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int k = 0; k < kLanes; ++k) lanes[k] = F::combine(lanes[k], static_cast<L>(F::map(x[i + k], param)));
  }
  for (int k = 0; i < n; ++i, ++k) lanes[k] = F::combine(lanes[k], static_cast<L>(F::map(x[i], param)));
  for (const L lane : lanes) *a = F::combine(*a, static_cast<A>(lane));
}

template <class F, class T>
// Results side by side are vectors by themselves; each of them takes its terms in order, in the wide type.
void reduction_columns(const void* x_raw, int64_t n, double param, void* acc) {
  using A = typename F::template Acc<T>;
  const auto* x = static_cast<const T*>(x_raw);
  auto* a = static_cast<A*>(acc);
  for (int64_t i = 0; i < n; ++i) a[i] = F::combine(a[i], static_cast<A>(F::map(x[i], param)));
}

template <class F, class T>
void reduction_merge(const void* from, int64_t n, void* acc) {
  using A = typename F::template Acc<T>;
  const auto* f = static_cast<const A*>(from);
  auto* a = static_cast<A*>(acc);
  for (int64_t i = 0; i < n; ++i) a[i] = F::combine(a[i], f[i]);
}

template <class F, class T>
void reduction_finish(const void* acc, int64_t n, int64_t count, double param, void* out) {
  using A = typename F::template Acc<T>;
  const auto* a = static_cast<const A*>(acc);
  using R = decltype(F::template finish<T>(*a, count, param));
  auto* r = static_cast<R*>(out);
  for (int64_t i = 0; i < n; ++i) r[i] = F::template finish<T>(a[i], count, param);
}

/// The kernels of reduction F computed in T.
template <class F, class T>
constexpr ReductionKernel reduction_kernel() {
  using A = typename F::template Acc<T>;
  using R = decltype(F::template finish<T>(A{}, int64_t{}, double{}));
  static_assert(sizeof(A) <= 16);
  return {dtype_of<T>,
          dtype_of<R>,
          sizeof(A),
          &reduction_init<F, T>,
          &reduction_row<F, T>,
          &reduction_columns<F, T>,
          &reduction_merge<F, T>,
          &reduction_finish<F, T>};
}

/// The kernel of F in a floating or complex slot; an empty one in any other.
template <class F>
ReductionKernel floating_reduction(DType slot) {
  switch (slot) {
    case DType::kFloat: return reduction_kernel<F, float>();
    case DType::kDouble: return reduction_kernel<F, double>();
    case DType::kComplex64: return reduction_kernel<F, Complex64>();
    case DType::kComplex128: return reduction_kernel<F, Complex128>();
    default: return {};
  }
}

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
