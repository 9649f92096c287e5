// SPDX-License-Identifier: Apache-2.0
// Scores are made in float32 whatever the inputs, and what hides a key is written over them as minus infinity, so that
// its probability is exactly 0. Masks and biases broadcast by strides of 0 and are read a tile at a time.
#include <algorithm>
#include <limits>

#include "ops/attention/attention.h"
#include "ops/attention/layout.h"
#include "ops/cube/gemm.h"
#include "ops/vector/conversion/convert.h"

namespace npu::ops {
namespace {

constexpr float kMasked = -std::numeric_limits<float>::infinity();

/// `distance` + `by`, where "no limit" stays so: it must not overflow, nor become a limit.
int64_t shifted(int64_t distance, int64_t by) { return distance > INT64_MAX / 2 ? distance : distance + by; }

/// Columns of two tensors side by side.
const float* load_both(const Tensor& a, const Tensor& b, int64_t batch, int64_t head, int64_t row, int64_t rows,
                       float* buffer, int64_t* ld) {
  if (!b.defined()) return load_rows(a, batch, head, row, rows, buffer, ld);
  *ld = a.shape[3] + b.shape[3];
  copy_rows(a, batch, head, row, rows, buffer, *ld);
  copy_rows(b, batch, head, row, rows, buffer + a.shape[3], *ld);
  return buffer;
}

}  // namespace

const float* AttentionOp::load_queries(const Sequence& s, int64_t n, int64_t row, int64_t rows, float* buffer,
                                       int64_t* ld) const {
  return load_both(q_, q_rope_, s.batch, n, s.first_query + row, rows, buffer, ld);
}
const float* AttentionOp::load_keys(const Sequence& s, int64_t n, int64_t row, int64_t rows, float* buffer,
                                    int64_t* ld) const {
  return load_both(k_, k_rope_, s.batch, n, s.first_key + row, rows, buffer, ld);
}

void AttentionOp::score_tile(const float* q, int64_t ldq, const float* k, int64_t ldk, const Sequence& s, int64_t n,
                             int64_t row, int64_t rows, int64_t col, int64_t cols, float* scores) const {
  cube::GemmArgs<float> args;
  args.trans_b = true;
  args.m = rows;
  args.n = cols;
  args.k = depth_;
  // The scale costs nothing in the product, and is in the scores before anything is added.
  args.alpha = scales_bias() ? 1.0f : static_cast<float>(scale);
  args.a = q;
  args.lda = ldq;
  args.b = k;
  args.ldb = ldk;
  args.c = scores;
  args.ldc = cols;
  cube::gemm_serial(args);
  if (pse_.defined()) add_bias(s, n, row, rows, col, cols, scores);
  if (masked_) hide(s, n, row, rows, col, cols, scores);
}

void AttentionOp::add_bias(const Sequence& s, int64_t n, int64_t row, int64_t rows, int64_t col, int64_t cols,
                           float* scores) const {
  const Convert convert = converter(pse_.dtype, DType::kFloat);
  const float factor = scales_bias() ? static_cast<float>(scale) : 1.0f;
  const int64_t head = s.index * pse_.strides[0] + n * pse_.strides[1];
  float bias[kKeyTile];
  for (int64_t r = row; r < row + rows; ++r) {
    // The last row of a bias by distance holds all distances: what the key `d` before a query gets stands `d` before
    // its end. Keys behind the query are hidden.
    const int64_t from = alibi_ ? pse_.shape[3] - 1 - r + col : col;
    const int64_t count = alibi_ ? std::clamp<int64_t>(r - col + 1, 0, cols) : cols;
    const int64_t at = head + (alibi_ ? pse_.shape[2] - 1 : r) * pse_.strides[2] + from * pse_.strides[3];
    convert(pse_.bytes() + at * static_cast<int64_t>(size_of(pse_.dtype)), pse_.strides[3], bias, 1, count);
    float* line = scores + (r - row) * cols;
    for (int64_t c = 0; c < count; ++c) line[c] = (line[c] + bias[c]) * factor;
  }
}

// Mode 2 is causal from the top left corner, 3 from the bottom right one, where the last query sees the last key, as
// where keys of earlier calls stand before those of this one. 4 is a band along that corner's diagonal; 6 is 3 with
// keys that all queries see. 7 and 8 are 3 and 2 of sequences of which the last or the first was cut: it is a band.
AttentionOp::Band AttentionOp::band_of(const Sequence& s) const {
  const int64_t shift = s.keys - s.queries;
  const bool cut = sparse_mode == 4 || (sparse_mode == 7 && s.index == sequences_.last_used()) ||
                   (sparse_mode == 8 && s.index == sequences_.first_used());
  if (cut) return {shifted(pre_tokens, -shift), shifted(next_tokens, shift)};
  if (sparse_mode == 0) return {pre_tokens, next_tokens};
  if (sparse_mode == 2 || sparse_mode == 8) return {INT64_MAX, 0};
  if (sparse_mode == 3 || sparse_mode == 7) return {INT64_MAX, shift};
  if (sparse_mode == 6) return {INT64_MAX, shift, prefix[static_cast<size_t>(s.index)]};
  return {};
}

void AttentionOp::hide(const Sequence& s, int64_t n, int64_t row, int64_t rows, int64_t col, int64_t cols,
                       float* scores) const {
  const Band band = band_of(s);
  for (int64_t r = row; r < row + rows; ++r) {
    float* line = scores + (r - row) * cols;
    if (mask_.defined()) {
      // Bytes, as a bool in memory may be any byte but 0.
      const auto* hidden = mask_.as<const uint8_t>() + s.batch * mask_.strides[0] + n * mask_.strides[1] +
                           r * mask_.strides[2] + col * mask_.strides[3];
      for (int64_t c = 0; c < cols; ++c) {
        if (hidden[c * mask_.strides[3]] != 0) line[c] = kMasked;
      }
    }
    // Positions may be near INT64_MAX ("no limit"): they are compared before they are added to.
    const int64_t first = band.below > r ? 0 : r - band.below;
    const int64_t last = std::max(band.above > s.keys ? s.keys - 1 : r + band.above, band.prefix - 1);
    // What is left of the first attended key and right of the last: the band itself is not touched.
    std::fill(line, line + std::clamp<int64_t>(first - col, 0, cols), kMasked);
    std::fill(line + std::clamp<int64_t>(last + 1 - col, 0, cols), line + cols, kMasked);
  }
}

void AttentionOp::apply_dropout(float* tile, const Sequence& s, int64_t n, int64_t row, int64_t rows, int64_t col,
                                int64_t cols) const {
  if (!drops()) return;
  const auto* bits = drop_mask.as<const uint8_t>();
  const auto factor = static_cast<float>(1 / keep_prob);
  for (int64_t r = 0; r < rows; ++r) {
    // One bit a score, in row-major order over [N, Sq, Skv] of one sequence after the other: the mask that the client
    // drew is read, nothing is drawn here, so forward and backward drop the same scores.
    const int64_t start = s.scores * heads_ + (n * s.queries + row + r) * s.keys + col;
    for (int64_t c = 0; c < cols; ++c) {
      const int64_t bit = start + c;
      tile[r * cols + c] *= (bits[bit >> 3] >> (bit & 7) & 1) != 0 ? factor : 0.0f;
    }
  }
}

float* AttentionOp::statistic(const Tensor& t, const Sequence& s, int64_t n, int64_t row) const {
  if (!packed()) return t.as<float>() + s.batch * t.strides[0] + n * t.strides[1] + row * t.strides[2];
  if (!softmax_layout.empty()) return t.as<float>() + (s.first_query + row) * t.strides[0] + n * t.strides[1];
  return t.as<float>() + (s.first_query * heads_ + n * s.queries + row) * 8;
}

}  // namespace npu::ops
