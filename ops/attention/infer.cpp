// SPDX-License-Identifier: Apache-2.0
// Attention for inference: keys and values as one batch, as one tensor a sample, in pages, or one sequence behind the
// other, with the length of each sample where these differ. Each part is one call of flash_attention.
#include "ops/attention/infer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "ops/attention/layout.h"
#include "ops/vector/conversion/element.h"

namespace npu::ops {
namespace {

bool absent(const Tensor& t) { return !t.defined() || t.count() == 0; }

/// Sample b of a view [B, …]; the whole batch for b < 0.
Tensor sample(const Tensor& t, int64_t b) {
  if (b < 0) return t;
  Tensor out = t;
  out.offset += b * out.strides[0];
  out.shape[0] = 1;
  return out;
}
/// Positions [from, from + length) of `axis`.
Tensor cut(Tensor t, size_t axis, int64_t length, int64_t from = 0) {
  t.offset += from * t.strides[axis];
  t.shape[axis] = length;
  return t;
}

}  // namespace

int64_t InferAttention::length(const std::vector<int64_t>& lengths, int64_t b, int64_t longest,
                               const char* name) const {
  if (lengths.empty() || b < 0) return longest;
  require(lengths.size() == 1 || lengths.size() == static_cast<size_t>(samples()),
          "{} has {} numbers for {} samples; give one, or one a sample", name, lengths.size(), samples());
  const int64_t length = lengths[lengths.size() == 1 ? 0 : static_cast<size_t>(b)];
  require(length >= 0 && length <= longest, "{}[{}] is {}; the longest possible is {}", name, b, length, longest);
  return length;
}

/// Where sequences lie one behind the other each begins where the one before it ends; lengths of keys in pages are
/// each their own.
void InferAttention::measure_packed(Part& part) const {
  const auto i = static_cast<size_t>(part.b);
  const auto span = [&](const std::vector<int64_t>& ends, int64_t rows, const char* name, int64_t& first) {
    require(ends.size() == actual_seq_lengths.size(), "{} has {} numbers, actualSeqLengths {}; give one a sequence",
            name, ends.size(), actual_seq_lengths.size());
    first = i == 0 ? 0 : ends[i - 1];
    require(first >= 0 && ends[i] >= first && ends[i] <= rows,
            "{}[{}] is {} after {}; sequences end one behind the other, within {} rows", name, i, ends[i], first, rows);
    return ends[i] - first;
  };
  part.queries = span(actual_seq_lengths, q_.shape[2], "actualSeqLengths", part.first_query);
  if (!paged()) part.keys = span(actual_seq_lengths_kv, k_[0].shape[2], "actualSeqLengthsKv", part.first_key);
}

void InferAttention::measure(Part& part) const {
  const size_t at = k_.size() > 1 ? static_cast<size_t>(part.b) : 0;
  if (layout_.packed())
    measure_packed(part);
  else
    part.queries = length(actual_seq_lengths, part.b, q_.shape[2], "actualSeqLengths");
  if (!layout_.packed() || paged())
    part.keys = length(actual_seq_lengths_kv, part.b, k_[at].shape[2], "actualSeqLengthsKv");
  // Each sample has the room of the longest.
  part.statistics =
      (std::max<int64_t>(layout_.packed() ? 0 : part.b, 0) * q_.shape[2] + part.first_query) * q_.shape[1] * 8;
}

Tensor InferAttention::queries_of(const Part& part, const Tensor& t) const {
  return cut(sample(t, layout_.packed() ? 0 : part.b), 2, part.queries, part.first_query);
}

Tensor InferAttention::keys_of(const Part& part, const std::vector<Tensor>& tensors, size_t which) const {
  if (paged())  // without gaps in the room of the longest
    return make_tensor(tensors[0].data, tensors[0].dtype, {1, tensors[0].shape[1], part.keys, pages_[which].depth()});
  const bool own = tensors.size() > 1;
  const Tensor& t = tensors[own ? static_cast<size_t>(part.b) : 0];
  return cut(sample(t, own || layout_.packed() ? 0 : part.b), 2, part.keys, part.first_key);
}

void InferAttention::plan_part(int64_t b) {
  Part& part = parts_.emplace_back();
  part.b = b;
  measure(part);
  part.call.set("query", queries_of(part, q_))
      .set("key", keys_of(part, k_, 0))
      .set("value", keys_of(part, v_, 1))
      .set("attention_out", queries_of(part, out_))
      .set("scale", scale)
      .set("head_num", num_heads)
      // The views, whatever the client's layout.
      .set("input_layout", std::string("BNSD"))
      .set("pre_tokens", pre_tokens)
      .set("next_tokens", next_tokens)
      .set("sparse_mode", sparse_mode)
      .set("mode_implies_mask", true);
  if (q_rope_.defined() && part.queries > 0 && part.keys > 0)
    part.call.set("query_rope", queries_of(part, q_rope_)).set("key_rope", keys_of(part, k_rope_, 2));
  if (!sink_.empty()) part.call.set("sink", make_tensor(sink_.data(), DType::kFloat, {num_heads}));
  if (!absent(pse_)) part.call.set("pse", cut(queries_of(part, pse_), 3, part.keys)).set("pse_type", int64_t{0});
  if (!absent(mask_)) part.call.set("atten_mask", cut(queries_of(part, mask_), 3, part.keys));
  if (softmax_lse_flag) {
    const Dims shape{b < 0 ? q_.shape[0] : 1, q_.shape[1], part.queries, 8};
    part.call.set("softmax_max", make_tensor(maximum_.data() + part.statistics, DType::kFloat, shape));
    part.call.set("softmax_sum", make_tensor(sum_.data() + part.statistics, DType::kFloat, shape));
  }
  part.call.prepare();
}

void InferAttention::prepare() {
  refuse_unbuilt();
  check_heads();
  check_masks();
  check_statistics();
  parts_.clear();
  // Samples of one length are one call, which shares its tiles among threads; others go one by one, each with as much
  // of queries and keys as it has.
  const bool together = k_.size() == 1 && actual_seq_lengths.empty() && actual_seq_lengths_kv.empty();
  const int64_t batch = together ? 1 : samples();
  parts_.reserve(static_cast<size_t>(batch));
  for (int64_t b = 0; b < batch; ++b) plan_part(together ? -1 : b);
}

void InferAttention::gather(const Part& part) {
  for (size_t i = 0; i < 3; ++i) {
    if (!gathered_[i].empty()) pages_[i].gather(part.b, part.keys, gathered_[i].data());
  }
}

/// Rows of the result behind the length of its sample are 0.
void InferAttention::clear_behind(int64_t b, int64_t from) const {
  const auto size = static_cast<int64_t>(size_of(out_.dtype));
  for (int64_t n = 0; n < out_.shape[1]; ++n) {
    for (int64_t s = from; s < out_.shape[2]; ++s) {
      // Element by element, for any strides: all bits 0 are 0 in every floating type.
      for (int64_t d = 0; d < out_.shape[3]; ++d) {
        const int64_t at = b * out_.strides[0] + n * out_.strides[1] + s * out_.strides[2] + d * out_.strides[3];
        std::memset(out_.bytes() + at * size, 0, static_cast<size_t>(size));
      }
    }
  }
}

/// The logarithm of each row's sum of exponentials; minus infinity for rows without a key.
void InferAttention::store_lse(const Part& part) const {
  const int64_t several = part.b < 0 ? q_.shape[0] : 1, heads = q_.shape[1];
  // [B, N, S, 1], or [T, N, 1] of which the rows of a sequence are a part.
  const Tensor to = layout_.packed() ? packed_view(cut(softmax_lse, 0, part.queries, part.first_query), "softmaxLse")
                                     : sample(softmax_lse, part.b);
  for (int64_t row = 0; row < several * heads * part.queries; ++row) {
    const auto from = static_cast<size_t>(part.statistics + row * 8);
    const int64_t s = row % part.queries, n = row / part.queries % heads, b = row / part.queries / heads;
    to.as<float>()[b * to.strides[0] + n * to.strides[1] + s * to.strides[2]] = maximum_[from] + std::log(sum_[from]);
  }
}

void InferAttention::run() {
  for (size_t n = 0; n < sink_.size(); ++n)
    sink_[n] = static_cast<float>(load_element(learnable_sink, static_cast<int64_t>(n) * learnable_sink.strides[0]));
  for (Part& part : parts_) {
    if (paged()) gather(part);
    part.call.compute();
    if (part.b >= 0 && !layout_.packed()) clear_behind(part.b, part.queries);
    if (softmax_lse_flag) store_lse(part);
  }
  // Rows behind the last sequence.
  if (layout_.packed()) clear_behind(0, actual_seq_lengths.back());
}

int64_t InferAttention::cost() const {
  int64_t sum = 500;
  for (const Part& part : parts_) sum += part.call.cost();
  return sum;
}

namespace {

template <auto M>
constexpr Field unbuilt(std::string_view name) {
  return {name, FieldKind::kTensor, FieldRole::kOptional,
          [](Operator& op) -> Member { return &(static_cast<InferAttention&>(op).*M); }};
}

using A = InferAttention;
const Registration register_infer("infer_attention", "attention",
                                  {in<&A::query>("query"),
                                   in<&A::key>("key"),
                                   in<&A::value>("value"),
                                   optional<&A::pse_shift>("pse_shift"),
                                   optional<&A::atten_mask>("atten_mask"),
                                   attr<&A::actual_seq_lengths>("actual_seq_lengths"),
                                   attr<&A::actual_seq_lengths_kv>("actual_seq_lengths_kv"),
                                   unbuilt<&A::dequant_scale1>("dequant_scale1"),
                                   unbuilt<&A::quant_scale1>("quant_scale1"),
                                   unbuilt<&A::dequant_scale2>("dequant_scale2"),
                                   unbuilt<&A::quant_scale2>("quant_scale2"),
                                   unbuilt<&A::quant_offset2>("quant_offset2"),
                                   unbuilt<&A::antiquant_scale>("antiquant_scale"),
                                   unbuilt<&A::antiquant_offset>("antiquant_offset"),
                                   optional<&A::block_table>("block_table"),
                                   unbuilt<&A::query_padding_size>("query_padding_size"),
                                   unbuilt<&A::kv_padding_size>("kv_padding_size"),
                                   unbuilt<&A::key_antiquant_scale>("key_antiquant_scale"),
                                   unbuilt<&A::key_antiquant_offset>("key_antiquant_offset"),
                                   unbuilt<&A::value_antiquant_scale>("value_antiquant_scale"),
                                   unbuilt<&A::value_antiquant_offset>("value_antiquant_offset"),
                                   unbuilt<&A::key_shared_prefix>("key_shared_prefix"),
                                   unbuilt<&A::value_shared_prefix>("value_shared_prefix"),
                                   optional<&A::query_rope>("query_rope"),
                                   optional<&A::key_rope>("key_rope"),
                                   optional<&A::learnable_sink>("learnable_sink"),
                                   unbuilt<&A::dequant_scale_query>("dequant_scale_query"),
                                   unbuilt<&A::q_start_idx>("q_start_idx"),
                                   unbuilt<&A::kv_start_idx>("kv_start_idx"),
                                   unbuilt<&A::key_rope_antiquant_scale>("key_rope_antiquant_scale"),
                                   attr<&A::actual_shared_prefix_len>("actual_shared_prefix_len"),
                                   attr<&A::num_heads>("num_heads"),
                                   attr<&A::scale>("scale"),
                                   attr<&A::pre_tokens>("pre_tokens"),
                                   attr<&A::next_tokens>("next_tokens"),
                                   attr<&A::input_layout>("input_layout"),
                                   attr<&A::num_key_value_heads>("num_key_value_heads"),
                                   attr<&A::sparse_mode>("sparse_mode"),
                                   attr<&A::pse_type>("pse_type"),
                                   attr<&A::softmax_lse_flag>("softmax_lse_flag"),
                                   out<&A::attention_out>("attention_out"),
                                   optional_out<&A::softmax_lse>("softmax_lse")},
                                  &make<InferAttention>);

}  // namespace
}  // namespace npu::ops
