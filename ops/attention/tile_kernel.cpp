// SPDX-License-Identifier: Apache-2.0
// Plain loops over fixed lanes, built once per instruction set: the compiler makes vectors of them, and the order of a
// sum is the same for each width of vectors.
#include "ops/attention/tile_kernel.h"

#include <limits>

#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/attention/tile_kernel.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

constexpr int64_t kLanes = 16;
constexpr float kLowest = -std::numeric_limits<float>::infinity();

// Lanes keep the order of the sum fixed and let the loop become vector code.
float row_maximum(const float* x, int64_t n) {
  float lanes[kLanes];
  for (float& l : lanes) l = kLowest;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t k = 0; k < kLanes; ++k) lanes[k] = lanes[k] > x[i + k] ? lanes[k] : x[i + k];
  }
  for (; i < n; ++i) lanes[0] = lanes[0] > x[i] ? lanes[0] : x[i];
  float best = kLowest;
  for (const float l : lanes) best = best > l ? best : l;
  return best;
}

// What each exponential becomes and their sum, in one pass; the shift keeps all of them at most 1.
float exponentials(float* x, int64_t n, float shift) {
  float lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t k = 0; k < kLanes; ++k) {
      x[i + k] = exp_of(x[i + k] - shift);
      lanes[k] += x[i + k];
    }
  }
  for (; i < n; ++i) {
    x[i] = exp_of(x[i] - shift);
    lanes[0] += x[i];
  }
  float total = 0;
  for (const float l : lanes) total += l;
  return total;
}

void step(float* scores, int64_t rows, int64_t cols, float* maximum, float* sum, float* rescale) {
  for (int64_t r = 0; r < rows; ++r) {
    float* row = scores + r * cols;
    const float found = row_maximum(row, cols);
    const float best = found > maximum[r] ? found : maximum[r];
    const float shift = best == kLowest ? 0.0f : best;  // -inf - -inf would be NaN
    // 0 for the first tile, whose maximum before it is -inf: nothing has been added up yet.
    rescale[r] = exp_of(maximum[r] - shift);
    sum[r] = sum[r] * rescale[r] + exponentials(row, cols, shift);
    maximum[r] = best;
  }
}

void scale(float* out, int64_t rows, int64_t cols, const float* factor) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) out[r * cols + c] *= factor[r];
  }
}

void again(float* scores, int64_t rows, int64_t cols, const float* maximum, const float* sum) {
  for (int64_t r = 0; r < rows; ++r) {
    const float factor = sum[r] == 0 ? 0.0f : 1.0f / sum[r];
    const float shift = maximum[r] == kLowest ? 0.0f : maximum[r];
    float* row = scores + r * cols;
    for (int64_t c = 0; c < cols; ++c) row[c] = exp_of(row[c] - shift) * factor;
  }
}

void gradient(float* gradient, const float* probability, int64_t rows, int64_t cols, const float* delta) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) {
      const int64_t i = r * cols + c;
      gradient[i] = probability[i] * (gradient[i] - delta[r]);
    }
  }
}

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {

HWY_EXPORT(step);
HWY_EXPORT(scale);
HWY_EXPORT(again);
HWY_EXPORT(gradient);

void softmax_step(float* scores, int64_t rows, int64_t cols, float* maximum, float* sum, float* rescale) {
  HWY_DYNAMIC_DISPATCH(step)(scores, rows, cols, maximum, sum, rescale);
}
void scale_rows(float* out, int64_t rows, int64_t cols, const float* factor) {
  HWY_DYNAMIC_DISPATCH(scale)(out, rows, cols, factor);
}
void softmax_again(float* scores, int64_t rows, int64_t cols, const float* maximum, const float* sum) {
  HWY_DYNAMIC_DISPATCH(again)(scores, rows, cols, maximum, sum);
}
void softmax_gradient(float* out, const float* probability, int64_t rows, int64_t cols, const float* delta) {
  HWY_DYNAMIC_DISPATCH(gradient)(out, probability, rows, cols, delta);
}

}  // namespace npu::ops
#endif
