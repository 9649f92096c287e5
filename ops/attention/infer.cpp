// SPDX-License-Identifier: Apache-2.0
// Attention for inference: keys and values as one batch or one tensor a sample, with the length of each sample where
// these differ. Each part is one call of flash_attention.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "ops/attention/layout.h"
#include "ops/operator.h"
#include "ops/runner/call.h"

namespace npu::ops {
namespace {

bool absent(const Tensor& t) { return !t.defined() || t.count() == 0; }

/// Positions [0, length) of `axis` of sample b of a view [B, …]; the whole batch for b < 0.
Tensor sample(const Tensor& t, int64_t b) {
  if (b < 0) return t;
  Tensor out = t;
  out.offset += b * out.strides[0];
  out.shape[0] = 1;
  return out;
}
Tensor cut(Tensor t, size_t axis, int64_t length) {
  t.shape[axis] = length;
  return t;
}

/// Arguments for quantised, paged, shared and split caches, which are not built, under the client's names.
struct Unbuilt {
  Tensor dequant_scale1, quant_scale1, dequant_scale2, quant_scale2, quant_offset2, antiquant_scale, antiquant_offset,
      block_table, query_padding_size, kv_padding_size, key_antiquant_scale, key_antiquant_offset,
      value_antiquant_scale, value_antiquant_offset, key_shared_prefix, value_shared_prefix, query_rope, key_rope,
      key_rope_antiquant_scale;
};

struct InferAttention final : Operator, Unbuilt {
  Tensor query, pse_shift, atten_mask;
  std::vector<Tensor> key, value;
  std::vector<int64_t> actual_seq_lengths, actual_seq_lengths_kv, actual_shared_prefix_len;
  int64_t num_heads = 1;
  double scale = 1;
  int64_t pre_tokens = INT64_MAX, next_tokens = INT64_MAX;
  std::string input_layout;
  int64_t num_key_value_heads = 0;
  int64_t sparse_mode = 0;
  bool softmax_lse_flag = false;
  Tensor attention_out, softmax_lse;

  void prepare() override;
  void run() override;
  int64_t cost() const override;

 private:
  /// One call: sample `b` (-1: all), its lengths, and where its statistics begin.
  struct Part {
    Call call{"flash_attention"};
    int64_t b, queries, keys, statistics;
  };
  void refuse_unbuilt() const;
  void check_heads();
  void check_masks();
  void check_statistics();
  int64_t length(const std::vector<int64_t>& lengths, int64_t b, int64_t longest, const char* name) const;
  void plan_part(int64_t b);
  void clear_behind(int64_t b, int64_t from) const;
  void store_lse(const Part& part) const;

  Tensor q_, out_, pse_, mask_;  ///< [B, N, S, …] views
  std::vector<Tensor> k_, v_;    ///< [B or 1, Nkv, S, D]
  std::vector<Part> parts_;
  std::vector<float> maximum_, sum_;  ///< [B, N, S, 8], where the client wants them
};

void InferAttention::refuse_unbuilt() const {
  const std::pair<const char*, const Tensor*> given[] = {
      {"deqScale1", &dequant_scale1},
      {"quantScale1", &quant_scale1},
      {"deqScale2", &dequant_scale2},
      {"quantScale2", &quant_scale2},
      {"quantOffset2", &quant_offset2},
      {"antiquantScale", &antiquant_scale},
      {"antiquantOffset", &antiquant_offset},
      {"blockTable", &block_table},
      {"queryPaddingSize", &query_padding_size},
      {"kvPaddingSize", &kv_padding_size},
      {"keyAntiquantScale", &key_antiquant_scale},
      {"keyAntiquantOffset", &key_antiquant_offset},
      {"valueAntiquantScale", &value_antiquant_scale},
      {"valueAntiquantOffset", &value_antiquant_offset},
      {"keySharedPrefix", &key_shared_prefix},
      {"valueSharedPrefix", &value_shared_prefix},
      {"queryRope", &query_rope},
      {"keyRope", &key_rope},
      {"keyRopeAntiquantScale", &key_rope_antiquant_scale},
  };
  for (const auto& [name, tensor] : given)
    // Refused by the client's own name: an argument that is passed over in silence would change results.
    require(absent(*tensor),
            "{} is given: attention over quantised, paged, shared or split caches is not built; give plain "
            "keys and values and leave it out",
            name);
  require(actual_shared_prefix_len.empty(), "actualSharedPrefixLen is given: shared prefixes are not built");
}

void InferAttention::check_heads() {
  // The vendor's word for: heads first in, sequence first out.
  const bool turned = input_layout == "BNSD_BSND";
  const std::string layout = turned ? "BNSD" : input_layout;
  const int64_t kv_heads = num_key_value_heads == 0 ? num_heads : num_key_value_heads;
  q_ = head_view(query, layout, num_heads, "query");
  out_ = head_view(attention_out, turned ? "BSND" : layout, num_heads, "attention_out");
  const auto batch = static_cast<size_t>(q_.shape[0]);
  require(!key.empty() && key.size() == value.size(), "there are {} keys and {} values; give one for each other",
          key.size(), value.size());
  require(key.size() == 1 || key.size() == batch, "there are {} keys for {} samples; give one, or one a sample",
          key.size(), batch);
  k_.clear(), v_.clear();
  for (size_t i = 0; i < key.size(); ++i) {
    k_.push_back(head_view(key[i], layout, kv_heads, "key"));
    v_.push_back(head_view(value[i], layout, kv_heads, "value"));
    require(k_[i].shape[1] == kv_heads, "key is {}, numKeyValueHeads {}", key[i].shape, kv_heads);
    require(key.size() == 1 || k_[i].shape[0] == 1, "key {} is {}; a tensor of one sample has batch 1", i,
            key[i].shape);
  }
}

// Biases and masks of two or three dimensions hold for all heads.
void InferAttention::check_masks() {
  pse_ = mask_ = Tensor();
  const bool several = key.size() > 1;
  require(!several || (absent(pse_shift) && (absent(atten_mask) || sparse_mode >= 2)),
          "pseShift and attenMask are not built for one key a sample; give the keys as one tensor");
  const Dims full{q_.shape[0], q_.shape[1], q_.shape[2], k_[0].shape[2]};
  if (!absent(pse_shift)) pse_ = pse_shift.expanded(full);
  if (absent(atten_mask) || sparse_mode >= 2) return;
  mask_ = atten_mask;
  // Its bytes are read as 0 or not, so the sign does not matter.
  if (mask_.dtype == DType::kInt8) mask_.dtype = DType::kUInt8;
  if (mask_.rank() == 3) mask_.shape.insert(1, 1), mask_.strides.insert(1, 0);
  mask_ = mask_.expanded(full);
}

void InferAttention::check_statistics() {
  maximum_.clear(), sum_.clear();
  if (!softmax_lse_flag) return;
  const Dims wanted{q_.shape[0], q_.shape[1], q_.shape[2], 1};
  require(softmax_lse.defined() && softmax_lse.dtype == DType::kFloat && softmax_lse.shape == wanted,
          "softmaxLse must be float32 {} when softmaxLseFlag is on", wanted);
  maximum_.resize(static_cast<size_t>(count_of(wanted) * 8));
  sum_.resize(maximum_.size());
}

int64_t InferAttention::length(const std::vector<int64_t>& lengths, int64_t b, int64_t longest,
                               const char* name) const {
  if (lengths.empty() || b < 0) return longest;
  require(lengths.size() == 1 || lengths.size() == static_cast<size_t>(q_.shape[0]),
          "{} has {} numbers for {} samples; give one, or one a sample", name, lengths.size(), q_.shape[0]);
  const int64_t length = lengths[lengths.size() == 1 ? 0 : static_cast<size_t>(b)];
  require(length >= 0 && length <= longest, "{}[{}] is {}; the longest possible is {}", name, b, length, longest);
  return length;
}

void InferAttention::plan_part(int64_t b) {
  const size_t at = k_.size() > 1 ? static_cast<size_t>(b) : 0;
  const int64_t of_key = k_.size() > 1 ? 0 : b;
  Part& part = parts_.emplace_back();
  part.b = b;
  part.queries = length(actual_seq_lengths, b, q_.shape[2], "actualSeqLengths");
  part.keys = length(actual_seq_lengths_kv, b, k_[at].shape[2], "actualSeqLengthsKv");
  const auto narrowed = [&](const Tensor& t, int64_t of, int64_t rows) { return cut(sample(t, of), 2, rows); };
  part.call.set("query", narrowed(q_, b, part.queries))
      .set("key", narrowed(k_[at], of_key, part.keys))
      .set("value", narrowed(v_[at], of_key, part.keys))
      .set("attention_out", narrowed(out_, b, part.queries))
      .set("scale", scale)
      .set("head_num", num_heads)
      // The views, whatever the client's layout.
      .set("input_layout", std::string("BNSD"))
      .set("pre_tokens", pre_tokens)
      .set("next_tokens", next_tokens)
      .set("sparse_mode", sparse_mode)
      .set("mode_implies_mask", true);
  if (!absent(pse_))
    part.call.set("pse", cut(narrowed(pse_, b, part.queries), 3, part.keys)).set("pse_type", int64_t{0});
  if (!absent(mask_)) part.call.set("atten_mask", cut(narrowed(mask_, b, part.queries), 3, part.keys));
  // Each sample has the room of the longest.
  part.statistics = std::max<int64_t>(b, 0) * q_.shape[1] * q_.shape[2] * 8;
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
  const int64_t batch = together ? 1 : q_.shape[0];
  parts_.reserve(static_cast<size_t>(batch));
  for (int64_t b = 0; b < batch; ++b) plan_part(together ? -1 : b);
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
  const int64_t samples = part.b < 0 ? q_.shape[0] : 1, heads = q_.shape[1];
  const Tensor to = sample(softmax_lse, part.b);
  for (int64_t row = 0; row < samples * heads * part.queries; ++row) {
    const auto from = static_cast<size_t>(part.statistics + row * 8);
    const int64_t s = row % part.queries, n = row / part.queries % heads, b = row / part.queries / heads;
    to.as<float>()[b * to.strides[0] + n * to.strides[1] + s * to.strides[2]] = maximum_[from] + std::log(sum_[from]);
  }
}

void InferAttention::run() {
  for (Part& part : parts_) {
    part.call.compute();
    if (part.b >= 0) clear_behind(part.b, part.queries);
    if (softmax_lse_flag) store_lse(part);
  }
}

int64_t InferAttention::cost() const {
  int64_t sum = 500;
  for (const Part& part : parts_) sum += part.call.cost();
  return sum;
}

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
                                   unbuilt<&A::block_table>("block_table"),
                                   unbuilt<&A::query_padding_size>("query_padding_size"),
                                   unbuilt<&A::kv_padding_size>("kv_padding_size"),
                                   unbuilt<&A::key_antiquant_scale>("key_antiquant_scale"),
                                   unbuilt<&A::key_antiquant_offset>("key_antiquant_offset"),
                                   unbuilt<&A::value_antiquant_scale>("value_antiquant_scale"),
                                   unbuilt<&A::value_antiquant_offset>("value_antiquant_offset"),
                                   unbuilt<&A::key_shared_prefix>("key_shared_prefix"),
                                   unbuilt<&A::value_shared_prefix>("value_shared_prefix"),
                                   unbuilt<&A::query_rope>("query_rope"),
                                   unbuilt<&A::key_rope>("key_rope"),
                                   unbuilt<&A::key_rope_antiquant_scale>("key_rope_antiquant_scale"),
                                   attr<&A::actual_shared_prefix_len>("actual_shared_prefix_len"),
                                   attr<&A::num_heads>("num_heads"),
                                   attr<&A::scale>("scale"),
                                   attr<&A::pre_tokens>("pre_tokens"),
                                   attr<&A::next_tokens>("next_tokens"),
                                   attr<&A::input_layout>("input_layout"),
                                   attr<&A::num_key_value_heads>("num_key_value_heads"),
                                   attr<&A::sparse_mode>("sparse_mode"),
                                   attr<&A::softmax_lse_flag>("softmax_lse_flag"),
                                   out<&A::attention_out>("attention_out"),
                                   optional_out<&A::softmax_lse>("softmax_lse")},
                                  &make<InferAttention>);

}  // namespace
}  // namespace npu::ops
