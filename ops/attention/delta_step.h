// SPDX-License-Identifier: Apache-2.0
// The kernel of the gated delta rule: one head takes one token.
#pragma once

#include <cstdint>

namespace npu::ops {

/// What a head sees of a token.
struct DeltaToken {
  const float* q = nullptr;
  const float* k = nullptr;
  const float* v = nullptr;
  float keep = 1;   ///< what the state is multiplied with before
  float learn = 1;  ///< how much of the difference it takes on
  float scale = 1;  ///< of the query
};

/// state [rows, cols], row-major: each row s becomes s' = keep * s + learn * (v - keep * s·k) k, and out is s'·q *
/// scale.
void delta_step(float* state, int64_t rows, int64_t cols, const DeltaToken& token, float* out);

}  // namespace npu::ops
