// SPDX-License-Identifier: Apache-2.0
// The kernel of the clipped gated unit.
#pragma once

#include <cstdint>

namespace npu::ops {

struct ClippedGate {
  float alpha = 1.702f, limit = 7, bias = 1;
};

/// out[i] = a · sigmoid(alpha · a) · (b + bias), a = x[i · step] at most `limit`, b = y[i · step] within ±limit.
void clipped_gate(const float* x, const float* y, int64_t step, int64_t n, const ClippedGate& gate, float* out);

}  // namespace npu::ops
