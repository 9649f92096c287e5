// SPDX-License-Identifier: Apache-2.0
// Scores are made in float32 whatever the inputs, and what hides a key is written over them as minus infinity, so that
// its probability is exactly 0. Masks and biases broadcast by strides of 0 and are read a tile at a time.
#include "ops/attention/attention.h"

#include <algorithm>
#include <limits>

#include "ops/attention/layout.h"
#include "ops/cube/gemm.h"
#include "ops/vector/conversion/convert.h"

namespace npu::ops {
namespace {

constexpr float kMasked = -std::numeric_limits<float>::infinity();

bool absent(const Tensor& t) { return !t.defined() || t.count() == 0; }

}  // namespace

void AttentionOp::check() {
  require(query.dtype == DType::kFloat || query.dtype == DType::kHalf || query.dtype == DType::kBFloat16,
          "query is {}; attention takes float32, float16 and bfloat16", query.dtype);
  require(key.dtype == query.dtype && value.dtype == query.dtype, "query is {}, key {}, value {}: use one dtype",
          query.dtype, key.dtype, value.dtype);
  q_ = head_view(query, input_layout, head_num, "query");
  batch_ = q_.shape[0];
  heads_ = q_.shape[1];
  queries_ = q_.shape[2];
  depth_ = q_.shape[3];
  // Folded layouts tell the number of key heads only through the depth of a head.
  const bool folded = key.rank() == 3;
  const int64_t kv_heads = folded ? key.shape[2] / std::max<int64_t>(depth_, 1) : head_num;
  k_ = head_view(key, input_layout, kv_heads, "key");
  v_ = head_view(value, input_layout, kv_heads, "value");
  // Fewer key heads than query heads: a group of neighbouring query heads shares one.
  kv_heads_ = k_.shape[1];
  keys_ = k_.shape[2];
  value_depth_ = v_.shape[3];
  require(head_num == heads_, "head_num is {}, query has {} heads", head_num, heads_);
  require(k_.shape[0] == batch_ && k_.shape[3] == depth_, "key is {}, query {} ({}): batch and depth must agree",
          key.shape, query.shape, input_layout);
  require(v_.shape[0] == batch_ && v_.shape[1] == kv_heads_ && v_.shape[2] == keys_,
          "value is {}, key {} ({}): batch, heads and length must agree", value.shape, key.shape, input_layout);
  require(kv_heads_ > 0 && heads_ % kv_heads_ == 0, "{} query heads do not divide over {} key heads", heads_,
          kv_heads_);
  require(keep_prob > 0 && keep_prob <= 1, "keep_prob is {}; it must be in (0, 1]", keep_prob);
  check_masks();
}

void AttentionOp::check_masks() {
  require(absent(padding_mask), "padding_mask is not supported; fold it into atten_mask");
  require(sparse_mode >= 0 && sparse_mode <= 4,
          "sparse_mode {} is not supported; use 0 to 4, or pass the whole mask with mode 1", sparse_mode);
  require(pse_type == 0 || pse_type == 1, "pse_type {} is not supported; pass the bias itself with type 0 or 1",
          pse_type);
  const Dims full{batch_, heads_, queries_, keys_};
  // Modes 2 to 4 describe the mask by two diagonals, and the tensor, when given, only repeats them (the vendor's
  // kernels want it compressed); it is not read. Modes 0 and 1 read it.
  banded_ = sparse_mode >= 2 || (sparse_mode == 0 && !absent(atten_mask));
  // Mode 2 is causal from the top left corner, 3 from the bottom right one, 4 a band along that one. From the bottom
  // right the last query sees the last key, as where keys of earlier calls stand before those of this one.
  below_ = sparse_mode == 2 || sparse_mode == 3 ? INT64_MAX : pre_tokens;
  above_ = sparse_mode == 2 || sparse_mode == 3 ? 0 : next_tokens;
  if (sparse_mode >= 3) {  // aligned at the bottom right corner
    const int64_t shift = keys_ - queries_;
    // "No limit" stays so: it must not overflow, nor become a limit.
    above_ = above_ > INT64_MAX / 2 ? above_ : above_ + shift;
    below_ = below_ > INT64_MAX / 2 ? below_ : below_ - shift;
  }
  // Prepared again for other tensors, nothing of the earlier ones must stay.
  mask_ = Tensor();
  if (sparse_mode < 2 && !absent(atten_mask)) {
    require(atten_mask.dtype == DType::kBool || atten_mask.dtype == DType::kUInt8,
            "atten_mask is {}; it must be bool or uint8, 1 where a key is hidden", atten_mask.dtype);
    mask_ = atten_mask.expanded(full);
  }
  pse_ = absent(pse) ? Tensor() : pse.expanded(full);
  if (!drops()) return;
  require(drop_mask.contiguous(), "drop_mask is not contiguous; a bit mask must be");
  require(drop_mask.count() * 8 >= count_of(full), "drop_mask holds {} bits, {} x {} x {} x {} scores need as many",
          drop_mask.count() * 8, batch_, heads_, queries_, keys_);
}

void AttentionOp::score_tile(const float* q, int64_t ldq, const float* k, int64_t ldk, int64_t b, int64_t n,
                             int64_t row, int64_t rows, int64_t col, int64_t cols, float* scores) const {
  const auto factor = static_cast<float>(scale);
  const bool late_scale = scales_bias();
  cube::GemmArgs<float> args;
  args.trans_b = true;
  args.m = rows;
  args.n = cols;
  args.k = depth_;
  // The scale costs nothing in the product, and is in the scores before anything is added.
  args.alpha = late_scale ? 1.0f : factor;
  args.a = q;
  args.lda = ldq;
  args.b = k;
  args.ldb = ldk;
  args.c = scores;
  args.ldc = cols;
  cube::gemm_serial(args);
  if (pse_.defined()) {
    const Convert convert = converter(pse_.dtype, DType::kFloat);
    float bias[kKeyTile];
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t at =
          b * pse_.strides[0] + n * pse_.strides[1] + (row + r) * pse_.strides[2] + col * pse_.strides[3];
      convert(pse_.bytes() + at * static_cast<int64_t>(size_of(pse_.dtype)), pse_.strides[3], bias, 1, cols);
      for (int64_t c = 0; c < cols; ++c)
        scores[r * cols + c] = (scores[r * cols + c] + bias[c]) * (late_scale ? factor : 1.0f);
    }
  }
  if (mask_.defined()) {
    for (int64_t r = 0; r < rows; ++r) {
      // Bytes, as a bool in memory may be any byte but 0.
      const auto* hidden = mask_.as<const uint8_t>() + b * mask_.strides[0] + n * mask_.strides[1] +
                           (row + r) * mask_.strides[2] + col * mask_.strides[3];
      for (int64_t c = 0; c < cols; ++c) {
        if (hidden[c * mask_.strides[3]] != 0) scores[r * cols + c] = kMasked;
      }
    }
  }
  if (banded_) mask_band(row, rows, col, cols, scores);
}

// Positions may be near INT64_MAX ("no limit"): they are compared before they are added to.
void AttentionOp::mask_band(int64_t row, int64_t rows, int64_t col, int64_t cols, float* scores) const {
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t query_index = row + r;
    const int64_t first = below_ > query_index ? 0 : query_index - below_;
    const int64_t last = above_ > keys_ ? keys_ - 1 : query_index + above_;
    float* line = scores + r * cols;
    // What is left of the first attended key and right of the last: the band itself is not touched.
    std::fill(line, line + std::clamp<int64_t>(first - col, 0, cols), kMasked);
    std::fill(line + std::clamp<int64_t>(last + 1 - col, 0, cols), line + cols, kMasked);
  }
}

void AttentionOp::apply_dropout(float* tile, int64_t b, int64_t n, int64_t row, int64_t rows, int64_t col,
                                int64_t cols) const {
  if (!drops()) return;
  const auto* bits = drop_mask.as<const uint8_t>();
  const auto factor = static_cast<float>(1 / keep_prob);
  for (int64_t r = 0; r < rows; ++r) {
    // One bit a score, in row-major order over [B, N, Sq, Skv]: the mask that the client drew is read, nothing is drawn
    // here, so forward and backward drop the same scores.
    const int64_t start = ((b * heads_ + n) * queries_ + row + r) * keys_ + col;
    for (int64_t c = 0; c < cols; ++c) {
      const int64_t bit = start + c;
      tile[r * cols + c] *= (bits[bit >> 3] >> (bit & 7) & 1) != 0 ? factor : 0.0f;
    }
  }
}

}  // namespace npu::ops
