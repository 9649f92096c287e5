// SPDX-License-Identifier: Apache-2.0
// What forward and backward attention share: the arguments, their checks, and the scores of one tile.
#pragma once

#include <string>
#include <vector>

#include "ops/operator.h"

namespace npu::ops {

/// Rows (queries) and columns (keys) of a tile of scores. Fixed, so that bits do not depend on anything else.
inline constexpr int64_t kQueryTile = 64;
inline constexpr int64_t kKeyTile = 256;

/// softmax(S, masked) V with dropout, for B batches, N query heads and Nkv <= N key heads. The scores S are
/// scale * (Q K^T + pse) where pse_type is 1, as it is for clients that give none, and scale * Q K^T + pse where it is
/// 0 (documentation of npu_fusion_attention). Dtypes float32, float16, bfloat16. Masks are bool or uint8, 1 = not
/// attended, and broadcast to [B, N, Sq, Skv]; for sparse modes 2, 3 and 4 the client's compressed mask is not read.
/// softmax_max and softmax_sum are float32 [B, N, Sq, 8], the value repeated 8 times.
struct AttentionOp : Operator {
  Tensor query, key, value, pse, drop_mask, padding_mask, atten_mask;
  std::vector<int64_t> prefix, q_start_idx, kv_start_idx;
  double scale = 1;
  double keep_prob = 1;
  int64_t pre_tokens = INT64_MAX;
  int64_t next_tokens = INT64_MAX;
  int64_t head_num = 0;
  std::string input_layout;
  int64_t sparse_mode = 0;
  int64_t pse_type = 1;
  /// What the result of a query is from which every key is hidden: NaN, as of a softmax of minus infinities, or 0.
  bool hidden_rows_are_nan = false;
  Tensor softmax_max, softmax_sum;

 protected:
  /// Whether the scale comes behind the bias.
  bool scales_bias() const { return pse_.defined() && pse_type == 1; }
  void check();
  /// Scores of queries [row, row + rows) against keys [col, col + cols), scaled, biased and masked (-inf).
  void score_tile(const float* q, int64_t ldq, const float* k, int64_t ldk, int64_t b, int64_t n, int64_t row,
                  int64_t rows, int64_t col, int64_t cols, float* scores) const;
  /// Multiplies by the keep mask over keep_prob; does nothing without dropout.
  void apply_dropout(float* tile, int64_t b, int64_t n, int64_t row, int64_t rows, int64_t col, int64_t cols) const;
  bool drops() const { return drop_mask.defined() && drop_mask.count() > 0 && keep_prob < 1; }
  int64_t group() const { return heads_ / kv_heads_; }

  Tensor q_, k_, v_;   ///< [B, N, S, D] views
  Tensor mask_, pse_;  ///< expanded to [B, N, Sq, Skv]; undefined when absent
  int64_t batch_ = 0, heads_ = 0, kv_heads_ = 0, queries_ = 0, keys_ = 0, depth_ = 0, value_depth_ = 0;

 private:
  void check_masks();
  void mask_band(int64_t row, int64_t rows, int64_t col, int64_t cols, float* scores) const;
  bool banded_ = false;
  int64_t below_ = 0;  ///< attended keys: query - below_ <= key <= query + above_
  int64_t above_ = 0;
};

/// Fields that forward and backward have in common.
template <class Op>
std::vector<Field> attention_fields() {
  return {in<&Op::query>("query"),
          in<&Op::key>("key"),
          in<&Op::value>("value"),
          optional<&Op::pse>("pse"),
          optional<&Op::drop_mask>("drop_mask"),
          optional<&Op::padding_mask>("padding_mask"),
          optional<&Op::atten_mask>("atten_mask"),
          attr<&Op::prefix>("prefix"),
          attr<&Op::q_start_idx>("q_start_idx"),
          attr<&Op::kv_start_idx>("kv_start_idx"),
          attr<&Op::scale>("scale"),
          attr<&Op::keep_prob>("keep_prob"),
          attr<&Op::pre_tokens>("pre_tokens"),
          attr<&Op::next_tokens>("next_tokens"),
          attr<&Op::head_num>("head_num"),
          attr<&Op::input_layout>("input_layout"),
          attr<&Op::sparse_mode>("sparse_mode"),
          attr<&Op::pse_type>("pse_type"),
          attr<&Op::hidden_rows_are_nan>("hidden_rows_are_nan")};
}

}  // namespace npu::ops
