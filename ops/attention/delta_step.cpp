// SPDX-License-Identifier: Apache-2.0
// Plain loops over fixed lanes, built once per instruction set: the compiler makes vectors of them, and the order of a
// sum is the same for each width of vectors.
#include "ops/attention/delta_step.h"

#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/attention/delta_step.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

constexpr int64_t kLanes = 16;

float dot(const float* a, const float* b, int64_t n) {
  float lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t l = 0; l < kLanes; ++l) lanes[l] += a[i + l] * b[i + l];
  }
  for (; i < n; ++i) lanes[0] += a[i] * b[i];
  float sum = 0;
  for (const float lane : lanes) sum += lane;
  return sum;
}

void step_rows(float* state, int64_t rows, int64_t cols, const DeltaToken& t, float* out) {
  for (int64_t r = 0; r < rows; ++r) {
    float* row = state + r * cols;
    const float step = t.learn * (t.v[r] - t.keep * dot(row, t.k, cols));
    for (int64_t i = 0; i < cols; ++i) row[i] = t.keep * row[i] + step * t.k[i];
    out[r] = dot(row, t.q, cols) * t.scale;
  }
}

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {

HWY_EXPORT(step_rows);

void delta_step(float* state, int64_t rows, int64_t cols, const DeltaToken& token, float* out) {
  HWY_DYNAMIC_DISPATCH(step_rows)(state, rows, cols, token, out);
}

}  // namespace npu::ops
#endif
