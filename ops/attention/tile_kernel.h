// SPDX-License-Identifier: Apache-2.0
// Vector kernels on one tile of attention scores. A tile is row-major, `cols` apart.
#pragma once

#include <cstdint>

namespace npu::ops {

/// Rows (queries) and columns (keys) of a tile of scores. Fixed, so that bits do not depend on anything else.
inline constexpr int64_t kQueryTile = 64;
inline constexpr int64_t kKeyTile = 256;

/// One step of the running softmax of `rows` rows: scores become exp(score - new maximum); `maximum` and `sum` are
/// brought up to date and `rescale[r]` tells what earlier results of row r must be multiplied with. Rows that are
/// masked everywhere keep maximum -inf and sum 0.
void softmax_step(float* scores, int64_t rows, int64_t cols, float* maximum, float* sum, float* rescale);

/// out[r][d] *= factor[r].
void scale_rows(float* out, int64_t rows, int64_t cols, const float* factor);

/// probability = exp(score - maximum[r]) / sum[r], in place; 0 where sum[r] is 0.
void softmax_again(float* scores, int64_t rows, int64_t cols, const float* maximum, const float* sum);

/// gradient = probability * (gradient - delta[r]), in place.
void softmax_gradient(float* gradient, const float* probability, int64_t rows, int64_t cols, const float* delta);

}  // namespace npu::ops
