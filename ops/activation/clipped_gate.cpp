// SPDX-License-Identifier: Apache-2.0
// A plain loop, built once per instruction set: the compiler makes vectors of it.
#include "ops/activation/clipped_gate.h"

#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/activation/clipped_gate.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

void gate_run(const float* x, const float* y, int64_t step, int64_t n, const ClippedGate& g, float* out) {
  const float alpha = g.alpha, limit = g.limit, bias = g.bias;
  for (int64_t i = 0; i < n; ++i) {
    // A NaN stays one: it is neither below nor above the limit.
    const float a = x[i * step] > limit ? limit : x[i * step];
    const float upper = y[i * step] > limit ? limit : y[i * step];
    const float b = upper < -limit ? -limit : upper;
    out[i] = a * sigmoid_of(alpha * a) * (b + bias);
  }
}

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {

HWY_EXPORT(gate_run);

void clipped_gate(const float* x, const float* y, int64_t step, int64_t n, const ClippedGate& gate, float* out) {
  HWY_DYNAMIC_DISPATCH(gate_run)(x, y, step, n, gate, out);
}

}  // namespace npu::ops
#endif
