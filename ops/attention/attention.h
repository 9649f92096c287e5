// SPDX-License-Identifier: Apache-2.0
// What forward and backward attention share: the arguments, their checks, and the scores of one tile.
#pragma once

#include <string>
#include <vector>

#include "ops/attention/sequence.h"
#include "ops/attention/tile_kernel.h"
#include "ops/operator.h"

namespace npu::ops {

/// softmax(S, masked) V with dropout, for B sequences, N query heads and Nkv <= N key heads. The scores S are
/// scale * (Q K^T + pse) where pse_type is 1, as it is for clients that give none, and scale * Q K^T + pse where it is
/// 0 (documentation of npu_fusion_attention). Dtypes float32, float16, bfloat16. Sequences are of one length, or lie
/// one behind the other (input_layout TND), ending where actual_seq_qlen and actual_seq_kvlen say. query_rope and
/// key_rope are further columns of queries and keys; sink is a score of each head without a value. Masks are bool or
/// uint8, 1 = not attended, and broadcast to [B, N, Sq, Skv]; of TND they are [Sq, Skv] of the longest sequences, and
/// each reads the top left corner. For sparse modes 2, 3, 4, 6, 7 and 8 the client's mask is compressed and not read;
/// without a mask no mode holds. softmax_max and softmax_sum are float32 [B, N, Sq, 8], the value repeated 8 times. Of
/// TND they are [T, N, 8] where softmax_layout says so ("TND", "same_as_input"); else each sequence is a block [N, Sq,
/// 8] there, one behind the other.
struct AttentionOp : Operator {
  Tensor query, key, value, query_rope, key_rope, pse, drop_mask, padding_mask, atten_mask, sink;
  std::vector<int64_t> prefix, actual_seq_qlen, actual_seq_kvlen, q_start_idx, kv_start_idx;
  double scale = 1;
  double keep_prob = 1;
  int64_t pre_tokens = INT64_MAX;
  int64_t next_tokens = INT64_MAX;
  int64_t head_num = 0;
  std::string input_layout, softmax_layout;
  int64_t sparse_mode = 0;
  int64_t pse_type = 1;
  /// What the result of a query is from which every key is hidden: NaN, as of a softmax of minus infinities, or 0.
  bool hidden_rows_are_nan = false;
  /// Whether modes 2, 3 and 4 hold without a mask, too.
  bool mode_implies_mask = false;
  Tensor softmax_max, softmax_sum;

 protected:
  void check();
  void check_statistics() const;
  bool packed() const { return input_layout == "TND"; }
  /// An argument in the layout of the call as [B, N, S, D].
  Tensor view_of(const Tensor& tensor, int64_t heads, const char* name) const;

  /// Queries and keys with their rope columns, as load_rows() does; buffers of depth_ floats a row.
  const float* load_queries(const Sequence& s, int64_t n, int64_t row, int64_t rows, float* buffer, int64_t* ld) const;
  const float* load_keys(const Sequence& s, int64_t n, int64_t row, int64_t rows, float* buffer, int64_t* ld) const;
  /// Scores of queries [row, row + rows) of a sequence against its keys [col, col + cols), scaled, biased and masked
  /// (-inf).
  void score_tile(const float* q, int64_t ldq, const float* k, int64_t ldk, const Sequence& s, int64_t n, int64_t row,
                  int64_t rows, int64_t col, int64_t cols, float* scores) const;
  /// Multiplies by the keep mask over keep_prob; does nothing without dropout.
  void apply_dropout(float* tile, const Sequence& s, int64_t n, int64_t row, int64_t rows, int64_t col,
                     int64_t cols) const;
  /// Where softmax_max or softmax_sum, `t`, holds one query's 8 copies.
  float* statistic(const Tensor& t, const Sequence& s, int64_t n, int64_t row) const;
  float sink_of(int64_t n) const { return sink.as<float>()[n * sink.strides[0]]; }

  bool drops() const { return drop_mask.defined() && drop_mask.count() > 0 && keep_prob < 1; }
  /// Whether the scale comes behind the bias.
  bool scales_bias() const { return pse_.defined() && pse_type == 1; }
  bool has_rope() const { return q_rope_.defined(); }
  bool has_sink() const { return sink.defined() && sink.count() > 0; }
  int64_t group() const { return heads_ / kv_heads_; }

  Tensor q_, k_, v_, q_rope_, k_rope_;  ///< [B, N, S, D] views; B is 1 where sequences are packed
  Tensor mask_, pse_;                   ///< expanded to [B, N, Sq, Skv]; undefined when absent
  bool alibi_ = false;                  ///< pse_ holds the last rows of a bias that depends on the distance alone
  Sequences sequences_;
  int64_t heads_ = 0, kv_heads_ = 0, depth_ = 0, value_depth_ = 0;

 private:
  /// Keys that a query attends to: from query - below to query + above, and those before `prefix`.
  struct Band {
    int64_t below = INT64_MAX, above = INT64_MAX, prefix = 0;
  };
  void check_sequences();
  void check_rope();
  void check_masks();
  void check_bias();
  Band band_of(const Sequence& s) const;
  void add_bias(const Sequence& s, int64_t n, int64_t row, int64_t rows, int64_t col, int64_t cols,
                float* scores) const;
  void hide(const Sequence& s, int64_t n, int64_t row, int64_t rows, int64_t col, int64_t cols, float* scores) const;
  bool masked_ = false;  ///< whether sparse_mode holds
};

/// Fields that forward and backward have in common.
template <class Op>
std::vector<Field> attention_fields() {
  return {in<&Op::query>("query"),
          in<&Op::key>("key"),
          in<&Op::value>("value"),
          optional<&Op::query_rope>("query_rope"),
          optional<&Op::key_rope>("key_rope"),
          optional<&Op::pse>("pse"),
          optional<&Op::drop_mask>("drop_mask"),
          optional<&Op::padding_mask>("padding_mask"),
          optional<&Op::atten_mask>("atten_mask"),
          optional<&Op::sink>("sink"),
          attr<&Op::prefix>("prefix"),
          attr<&Op::actual_seq_qlen>("actual_seq_qlen"),
          attr<&Op::actual_seq_kvlen>("actual_seq_kvlen"),
          attr<&Op::q_start_idx>("q_start_idx"),
          attr<&Op::kv_start_idx>("kv_start_idx"),
          attr<&Op::scale>("scale"),
          attr<&Op::keep_prob>("keep_prob"),
          attr<&Op::pre_tokens>("pre_tokens"),
          attr<&Op::next_tokens>("next_tokens"),
          attr<&Op::head_num>("head_num"),
          attr<&Op::input_layout>("input_layout"),
          attr<&Op::softmax_layout>("softmax_layout"),
          attr<&Op::sparse_mode>("sparse_mode"),
          attr<&Op::pse_type>("pse_type"),
          attr<&Op::hidden_rows_are_nan>("hidden_rows_are_nan"),
          attr<&Op::mode_implies_mask>("mode_implies_mask")};
}

}  // namespace npu::ops
