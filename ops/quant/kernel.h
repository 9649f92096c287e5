// SPDX-License-Identifier: Apache-2.0
// Inner loops of quantisation over rows of floats. Products and sums are rounded one by one, never fused, so that a
// number near the middle of two integers goes the same way on every CPU.
#pragma once

#include <cstdint>
#include <utility>

namespace npu::ops {

/// A number for each element of a row, one for all of them, or none where `data` is null.
struct Factor {
  const float* data = nullptr;
  bool each = false;
  bool given() const { return data != nullptr; }
};

enum class Rounding : uint8_t { kNearest, kDown, kUp, kZero };

/// gate · sigmoid(alpha · gate) · (linear + bias), gate and linear cut at `limit` (gate above only).
struct GateForm {
  float alpha = 1, bias = 0;
  float limit = 0;  ///< 0: nothing is cut
};

/// `out` may be the row that is read.
struct QuantKernel {
  /// out = x * factor + addend
  void (*scale)(const float* x, Factor factor, Factor addend, float* out, int64_t n);
  /// out = x / divisor + addend
  void (*divide)(const float* x, Factor divisor, Factor addend, float* out, int64_t n);
  /// Whole numbers of [low, high]; NaN becomes 0.
  void (*round)(float* x, Rounding rounding, float low, float high, int64_t n);
  /// The largest magnitude; NaN elements are passed over.
  float (*largest)(const float* x, int64_t n);
  /// The smallest and the largest element; NaN elements are passed over.
  std::pair<float, float> (*extremes)(const float* x, int64_t n);
  void (*gate)(const float* gate, const float* linear, const GateForm& form, float* out, int64_t n);
};

/// Kernels of the running CPU.
const QuantKernel& quant_kernel();

}  // namespace npu::ops
