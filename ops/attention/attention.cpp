// SPDX-License-Identifier: Apache-2.0
// What arguments of attention may be. The scores themselves are in score.cpp.
#include "ops/attention/attention.h"

#include <algorithm>

#include "ops/attention/layout.h"
#include "ops/cube/gemm.h"
#include "ops/vector/conversion/convert.h"

namespace npu::ops {
namespace {

/// Rows of a bias that a client gives of one that depends on the distance of query and key alone.
constexpr int64_t kAlibiRows = 1024;

bool absent(const Tensor& t) { return !t.defined() || t.count() == 0; }

}  // namespace

Tensor AttentionOp::view_of(const Tensor& tensor, int64_t heads, const char* name) const {
  return packed() ? packed_view(tensor, name) : head_view(tensor, input_layout, heads, name);
}

void AttentionOp::check() {
  require(query.dtype == DType::kFloat || query.dtype == DType::kHalf || query.dtype == DType::kBFloat16,
          "query is {}; attention takes float32, float16 and bfloat16", query.dtype);
  require(key.dtype == query.dtype && value.dtype == query.dtype, "query is {}, key {}, value {}: use one dtype",
          query.dtype, key.dtype, value.dtype);
  q_ = view_of(query, head_num, "query");
  heads_ = q_.shape[1];
  depth_ = q_.shape[3];
  // Folded layouts tell the number of key heads only through the depth of a head.
  const bool folded = key.rank() == 3 && !packed();
  const int64_t kv_heads = folded ? key.shape[2] / std::max<int64_t>(depth_, 1) : head_num;
  k_ = view_of(key, kv_heads, "key");
  v_ = view_of(value, kv_heads, "value");
  // Fewer key heads than query heads: a group of neighbouring query heads shares one.
  kv_heads_ = k_.shape[1];
  value_depth_ = v_.shape[3];
  require(head_num == heads_, "head_num is {}, query has {} heads", head_num, heads_);
  require(k_.shape[0] == q_.shape[0] && k_.shape[3] == depth_, "key is {}, query {} ({}): batch and depth must agree",
          key.shape, query.shape, input_layout);
  require(v_.shape[0] == k_.shape[0] && v_.shape[1] == kv_heads_ && v_.shape[2] == k_.shape[2],
          "value is {}, key {} ({}): batch, heads and length must agree", value.shape, key.shape, input_layout);
  require(kv_heads_ > 0 && heads_ % kv_heads_ == 0, "{} query heads do not divide over {} key heads", heads_,
          kv_heads_);
  require(keep_prob > 0 && keep_prob <= 1, "keep_prob is {}; it must be in (0, 1]", keep_prob);
  require(!has_sink() || (sink.dtype == DType::kFloat && sink.shape == Dims{heads_}),
          "sink is {}; it must be float32 [{}], a score for each head of query", sink, heads_);
  check_sequences();
  check_rope();
  check_masks();
  check_bias();
}

void AttentionOp::check_sequences() {
  const int64_t queries = q_.shape[2], keys = k_.shape[2];
  require(packed() || (actual_seq_qlen.empty() && actual_seq_kvlen.empty()),
          "actual_seq_qlen and actual_seq_kvlen are given, input_layout is {}; sequences of own lengths need TND",
          input_layout);
  if (packed())
    sequences_.packed(actual_seq_qlen, actual_seq_kvlen, queries, keys);
  else
    sequences_.in_batch(q_.shape[0], queries, keys);
}

void AttentionOp::check_rope() {
  q_rope_ = k_rope_ = Tensor();
  require(absent(query_rope) == absent(key_rope), "query_rope and key_rope belong together; give both or none");
  if (absent(query_rope)) return;
  require(query_rope.dtype == query.dtype && key_rope.dtype == query.dtype,
          "query is {}, query_rope {}, key_rope {}: use one dtype", query.dtype, query_rope.dtype, key_rope.dtype);
  q_rope_ = view_of(query_rope, heads_, "query_rope");
  k_rope_ = view_of(key_rope, kv_heads_, "key_rope");
  const int64_t more = q_rope_.shape[3];
  require(q_rope_.shape == Dims({q_.shape[0], heads_, q_.shape[2], more}) &&
              k_rope_.shape == Dims({k_.shape[0], kv_heads_, k_.shape[2], more}),
          "query_rope is {}, key_rope {}: all but their depth, which must agree, is as of query {} and key {}",
          query_rope.shape, key_rope.shape, query.shape, key.shape);
  depth_ += more;
}

void AttentionOp::check_masks() {
  require(absent(padding_mask), "padding_mask is not supported; fold it into atten_mask");
  // Mode 5 is a whole mask [B, N, Sq, Skv]; 7 and 8 speak of the last and the first of several sequences.
  require(sparse_mode >= 0 && (packed() ? sparse_mode <= 8 && sparse_mode != 5 : sparse_mode <= 6),
          "sparse_mode {} is not supported in layout {}; use {}", sparse_mode, input_layout,
          packed() ? "0 to 4 or 6 to 8" : "0 to 6");
  masked_ = !absent(atten_mask) || (mode_implies_mask && sparse_mode >= 2 && sparse_mode <= 4);
  const auto count = static_cast<size_t>(sequences_.count());
  require(!masked_ || sparse_mode != 6 || prefix.size() == count,
          "prefix has {} numbers for {} sequences; sparse_mode 6 needs one each: how many keys all queries see",
          prefix.size(), count);
  // Prepared again for other tensors, nothing of the earlier ones must stay.
  mask_ = Tensor();
  if (masked_ && (sparse_mode <= 1 || sparse_mode == 5)) {
    require(atten_mask.dtype == DType::kBool || atten_mask.dtype == DType::kUInt8,
            "atten_mask is {}; it must be bool or uint8, 1 where a key is hidden", atten_mask.dtype);
    const int64_t queries = sequences_.longest_query(), keys = sequences_.longest_key();
    const auto rank = atten_mask.rank();
    require(!packed() || (rank >= 2 && atten_mask.shape[rank - 2] >= queries && atten_mask.shape[rank - 1] >= keys),
            "atten_mask is {}; layout TND takes one mask for all sequences, of the longest: [{}, {}]", atten_mask.shape,
            queries, keys);
    mask_ = packed() ? atten_mask.expanded({1, heads_, atten_mask.shape[rank - 2], atten_mask.shape[rank - 1]})
                     : atten_mask.expanded({q_.shape[0], heads_, queries, keys});
  }
  if (!drops()) return;
  require(drop_mask.contiguous(), "drop_mask is not contiguous; a bit mask must be");
  require(drop_mask.count() * 8 >= heads_ * sequences_.scores(),
          "drop_mask holds {} bits; {} heads of {} scores need as many", drop_mask.count() * 8, heads_,
          sequences_.scores());
}

void AttentionOp::check_bias() {
  require(pse_type == 0 || pse_type == 1, "pse_type {} is not supported; pass the bias itself with type 0 or 1",
          pse_type);
  pse_ = Tensor();
  alibi_ = false;
  if (absent(pse)) return;
  const int64_t queries = sequences_.longest_query(), keys = sequences_.longest_key();
  alibi_ = pse.rank() == 4 && pse.shape[2] == kAlibiRows && (packed() || queries > kAlibiRows);
  require(alibi_ || !packed(),
          "pse is {}; layout TND takes the last {} rows of a bias that depends on the distance of query and key alone: "
          "[1 or {}, {}, {}, {}]",
          pse.shape, kAlibiRows, sequences_.count(), heads_, kAlibiRows, keys);
  if (!alibi_) {
    pse_ = pse.expanded({q_.shape[0], heads_, queries, keys});
    return;
  }
  require(
      sequences_.square() && masked_ && pse.shape[3] >= keys &&
          (sparse_mode == 2 || sparse_mode == 3 || (sparse_mode == 0 && next_tokens <= 0)),
      "pse is {}, the last {} rows of a bias: that needs as many queries as keys, at most {} of them, and a mask that "
      "hides later keys (sparse_mode 2, 3, or 0 with next_tokens 0)",
      pse.shape, kAlibiRows, pse.shape[3]);
  pse_ = pse.expanded({sequences_.count(), heads_, kAlibiRows, pse.shape[3]});
}

void AttentionOp::check_statistics() const {
  const Dims shape = packed() ? Dims{q_.shape[2], heads_, 8} : Dims{q_.shape[0], heads_, q_.shape[2], 8};
  for (const Tensor* t : {&softmax_max, &softmax_sum}) {
    if (absent(*t)) continue;
    require(t->dtype == DType::kFloat && t->shape == shape, "softmax_max and softmax_sum must be float32 {}, got {}",
            shape, *t);
    require(!packed() || !softmax_layout.empty() || t->contiguous(),
            "softmax_max and softmax_sum must be contiguous in layout TND without a softmax_layout");
  }
  require(softmax_layout.empty() || softmax_layout == "same_as_input" || softmax_layout == input_layout,
          "softmax_layout is {}, input_layout {}; leave it empty or give the same", softmax_layout, input_layout);
}

}  // namespace npu::ops
