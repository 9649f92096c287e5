// SPDX-License-Identifier: Apache-2.0
#include "ops/optimizer/kernel.h"

#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/optimizer/kernel.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {
namespace {  // templates of other files must not meet these

template <class T, bool kLargest>
void adam(void* const* blocks, int64_t count, const double* param) {
  T* p = static_cast<T*>(blocks[0]);
  T* m = static_cast<T*>(blocks[1]);
  T* v = static_cast<T*>(blocks[2]);
  const T* g = static_cast<const T*>(blocks[3]);
  // Without amsgrad the pointer is v's, and is never written through.
  T* largest = kLargest ? static_cast<T*>(blocks[4]) : v;
  const T decay = static_cast<T>(param[kDecay]), sign = static_cast<T>(param[kSign]);
  const T beta1 = static_cast<T>(param[kBeta1]), rest1 = static_cast<T>(1 - param[kBeta1]);
  // 1 - beta in double: in float 1 - 0.999 would be off by 1e-5 of itself.
  const T beta2 = static_cast<T>(param[kBeta2]), rest2 = static_cast<T>(1 - param[kBeta2]);
  const T step = static_cast<T>(param[kStepSize]), root = static_cast<T>(param[kRootScale]);
  const T epsilon = static_cast<T>(param[kEpsilon]);
  const T momentum = static_cast<T>(param[kMomentum]), gradient = static_cast<T>(param[kGradient]);
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    const T grad = g[i] * sign;
    const T first = m[i] * beta1 + grad * rest1;
    T second = v[i] * beta2 + grad * grad * rest2;
    m[i] = first;
    v[i] = second;
    if constexpr (kLargest) {
      // A NaN is kept: max_of hands it on.
      second = max_of(largest[i], second);
      largest[i] = second;
    }
    const T denominator = sqrt_of(second) * root + epsilon;
    p[i] = p[i] * decay - step * (first * momentum + grad * gradient) / denominator;
  }
}

template <class T, bool kMomentumBuffer>
void sgd(void* const* blocks, int64_t count, const double* param) {
  T* p = static_cast<T*>(blocks[0]);
  T* g = static_cast<T*>(blocks[1]);
  T* buffer = kMomentumBuffer ? static_cast<T*>(blocks[2]) : g;
  const T scale = static_cast<T>(param[kScale]), sign = static_cast<T>(param[kMaximize] != 0 ? -1 : 1);
  const T decay = static_cast<T>(param[kWeightDecay]), rate = static_cast<T>(param[kRate]);
  const bool first = param[kFirst] != 0;
  // The first step takes the gradient whole, without damping, as torch does.
  const T factor = static_cast<T>(first ? 0 : param[kFactor]), share = static_cast<T>(first ? 1 : param[kUndamped]);
  const T nesterov = static_cast<T>(param[kNesterov] != 0 ? param[kFactor] : 0);
  const bool plain = param[kNesterov] == 0;
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    const T unscaled = g[i] * scale;
    // The decay joins after the sign: maximising turns the gradient around, not the decay.
    const T grad = unscaled * sign + p[i] * decay;
    T step = grad;
    if constexpr (kMomentumBuffer) {
      // The first step does not read the buffer: it may hold anything.
      const T kept = (first ? T(0) : buffer[i] * factor) + grad * share;
      buffer[i] = kept;
      step = plain ? kept : grad + kept * nesterov;
    }
    g[i] = unscaled;
    p[i] = p[i] - rate * step;
  }
}

template <class T>
void scale(void* const* blocks, int64_t count, const double* param) {
  T* g = static_cast<T*>(blocks[0]);
  const T factor = static_cast<T>(param[0]);
  for (int64_t i = 0; i < count; ++i) g[i] *= factor;
}

template <class T>
bool finite(const void* raw, int64_t n) {
  const T* x = static_cast<const T*>(raw);
  // x - x is 0 for finite numbers and NaN for all others; a sum keeps a NaN.
  // Sixteen sums run side by side without a branch, so that the loop becomes vector code.
  T sum[16] = {};
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    for (int k = 0; k < 16; ++k) sum[k] += x[i + k] - x[i + k];
  }
  for (; i < n; ++i) sum[0] += x[i] - x[i];
  T total = 0;
  for (const T s : sum) total += s;
  return total == T(0);
}

template <class T>
constexpr UpdateKernels kUpdateKernels = {&adam<T, false>, &adam<T, true>, &sgd<T, true>,
                                          &sgd<T, false>,  &scale<T>,      &finite<T>};

const UpdateKernels* update_kernels_for(DType slot) {
  return slot == DType::kDouble ? &kUpdateKernels<double> : &kUpdateKernels<float>;
}

}  // namespace
}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {
HWY_EXPORT(update_kernels_for);
const UpdateKernels& update_kernels(DType slot) { return *HWY_DYNAMIC_DISPATCH(update_kernels_for)(slot); }
}  // namespace npu::ops
#endif
