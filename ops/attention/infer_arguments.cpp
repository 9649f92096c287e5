// SPDX-License-Identifier: Apache-2.0
// What arguments of attention for inference may be.
#include <algorithm>
#include <utility>

#include "ops/attention/infer.h"

namespace npu::ops {
namespace {

bool absent(const Tensor& t) { return !t.defined() || t.count() == 0; }

}  // namespace

void InferAttention::refuse_unbuilt() const {
  const std::pair<const char*, const Tensor*> given[] = {
      {"deqScale1", &dequant_scale1},
      {"quantScale1", &quant_scale1},
      {"deqScale2", &dequant_scale2},
      {"quantScale2", &quant_scale2},
      {"quantOffset2", &quant_offset2},
      {"antiquantScale", &antiquant_scale},
      {"antiquantOffset", &antiquant_offset},
      {"queryPaddingSize", &query_padding_size},
      {"kvPaddingSize", &kv_padding_size},
      {"keyAntiquantScale", &key_antiquant_scale},
      {"keyAntiquantOffset", &key_antiquant_offset},
      {"valueAntiquantScale", &value_antiquant_scale},
      {"valueAntiquantOffset", &value_antiquant_offset},
      {"keySharedPrefix", &key_shared_prefix},
      {"valueSharedPrefix", &value_shared_prefix},
      {"keyRopeAntiquantScale", &key_rope_antiquant_scale},
      {"dequantScaleQuery", &dequant_scale_query},
      {"qStartIdx", &q_start_idx},
      {"kvStartIdx", &kv_start_idx},
  };
  for (const auto& [name, tensor] : given)
    // Refused by the client's own name: an argument that is passed over in silence would change results.
    require(absent(*tensor),
            "{} is given: attention over quantised or shared caches is not built; give plain keys and values and "
            "leave it out",
            name);
  require(actual_shared_prefix_len.empty(), "actualSharedPrefixLen is given: shared prefixes are not built");
  require(pse_type == 0, "pseType is {}; only 0, a bias that is added to the scaled scores, is built", pse_type);
}

void InferAttention::check_heads() {
  layout_ = InferLayout(input_layout);
  const int64_t kv_heads = num_key_value_heads == 0 ? num_heads : num_key_value_heads;
  q_ = infer_view(query, layout_.in, num_heads, "query");
  out_ = infer_view(attention_out, layout_.out, num_heads, "attention_out");
  require(!layout_.packed() || (!actual_seq_lengths.empty() && !actual_seq_lengths_kv.empty()),
          "input_layout is {}: actualSeqLengths and actualSeqLengthsKv must tell where each sequence ends",
          input_layout);
  k_.clear(), v_.clear(), k_rope_.clear();
  if (paged())
    check_pages(kv_heads);
  else
    check_keys(kv_heads);
  check_rope(kv_heads);
  check_sink();
}

void InferAttention::check_keys(int64_t kv_heads) {
  const auto batch = static_cast<size_t>(q_.shape[0]);
  require(!key.empty() && key.size() == value.size(), "there are {} keys and {} values; give one for each other",
          key.size(), value.size());
  require(key.size() == 1 || key.size() == batch, "there are {} keys for {} samples; give one, or one a sample",
          key.size(), batch);
  for (size_t i = 0; i < key.size(); ++i) {
    k_.push_back(infer_view(key[i], layout_.in, kv_heads, "key"));
    v_.push_back(infer_view(value[i], layout_.in, kv_heads, "value"));
    require(k_[i].shape[1] == kv_heads, "key is {}, numKeyValueHeads {}", key[i].shape, kv_heads);
    require(key.size() == 1 || k_[i].shape[0] == 1, "key {} is {}; a tensor of one sample has batch 1", i,
            key[i].shape);
  }
}

/// A page has its own layout, whatever that of the queries.
void InferAttention::check_pages(int64_t kv_heads) {
  require(key.size() == 1 && value.size() == 1, "there are {} keys and {} values; with a blockTable give one of each",
          key.size(), value.size());
  require(!actual_seq_lengths_kv.empty(), "blockTable is given without actualSeqLengthsKv; give the length of each");
  pages_[0] = Pages(key[0], block_table, kv_heads, "key");
  pages_[1] = Pages(value[0], block_table, kv_heads, "value");
  pages_[2] = absent(key_rope) ? Pages() : Pages(key_rope, block_table, kv_heads, "key_rope");
  require(block_table.shape[0] == samples(), "blockTable is {}; there are {} samples", block_table, samples());
  const int64_t longest = keys_of_longest();
  for (size_t i = 0; i < 3; ++i) {
    gathered_[i].clear();
    if (i == 2 && absent(key_rope)) continue;
    require(pages_[i].room() >= longest, "actualSeqLengthsKv names {} keys; blockTable {} has room for {}", longest,
            block_table.shape, pages_[i].room());
    const int64_t elements = kv_heads * longest * pages_[i].depth();
    gathered_[i].resize(static_cast<size_t>(elements) * size_of(pages_[i].dtype()));
    const Tensor room = make_tensor(gathered_[i].data(), pages_[i].dtype(), {1, kv_heads, longest, pages_[i].depth()});
    (i == 0 ? k_ : i == 1 ? v_ : k_rope_).push_back(room);
  }
}

void InferAttention::check_rope(int64_t kv_heads) {
  q_rope_ = Tensor();
  require(absent(query_rope) == absent(key_rope), "queryRope and keyRope belong together; give both or none");
  if (absent(query_rope)) return;
  require(key.size() == 1, "queryRope is given with {} keys; give the keys as one tensor", key.size());
  q_rope_ = infer_view(query_rope, layout_.in, num_heads, "query_rope");
  if (!paged()) k_rope_.push_back(infer_view(key_rope, layout_.in, kv_heads, "key_rope"));
}

/// Of any floating type, the client's; attention wants float32, so it is converted when it is there to be read.
void InferAttention::check_sink() {
  sink_.clear();
  if (absent(learnable_sink)) return;
  require(is_floating(learnable_sink.dtype) && learnable_sink.shape == Dims{num_heads},
          "learnableSink is {}; it must be floating point [{}], a score for each head", learnable_sink, num_heads);
  sink_.resize(static_cast<size_t>(num_heads));
}

int64_t InferAttention::samples() const {
  return layout_.packed() ? static_cast<int64_t>(actual_seq_lengths.size()) : q_.shape[0];
}

int64_t InferAttention::keys_of_longest() const {
  return paged() ? std::max<int64_t>(0, *std::ranges::max_element(actual_seq_lengths_kv)) : k_[0].shape[2];
}

// Biases and masks of two or three dimensions hold for all heads. They may be padded.
void InferAttention::check_masks() {
  pse_ = mask_ = Tensor();
  const bool several = key.size() > 1;
  const bool masked = !absent(atten_mask) && sparse_mode < 2;
  require(!several || (absent(pse_shift) && !masked),
          "pseShift and attenMask are not built for one key a sample; give the keys as one tensor");
  require(!layout_.packed() || (absent(pse_shift) && !masked),
          "pseShift, and attenMask with sparseMode {}, are not built for layout {}; use sparseMode 3 or no mask",
          sparse_mode, input_layout);
  const Dims full{q_.shape[0], q_.shape[1], q_.shape[2], keys_of_longest()};
  const auto fitted = [&](Tensor t) {
    for (size_t axis = 2; axis < 4; ++axis) {
      const size_t at = t.rank() - 4 + axis;
      if (t.rank() + axis >= 4 && t.shape[at] > full[axis]) t.shape[at] = full[axis];
    }
    return t.expanded(full);
  };
  if (!absent(pse_shift)) pse_ = fitted(pse_shift);
  if (!masked) return;
  mask_ = atten_mask;
  // Its bytes are read as 0 or not, so the sign does not matter.
  if (mask_.dtype == DType::kInt8) mask_.dtype = DType::kUInt8;
  // Of a single query there may be none of its dimension.
  const bool short_of_one = mask_.rank() == 2 && full[2] == 1 && full[0] > 1 && mask_.shape[0] == full[0];
  if (short_of_one) mask_.shape.insert(1, 1), mask_.strides.insert(1, 0);
  if (mask_.rank() == 3) mask_.shape.insert(1, 1), mask_.strides.insert(1, 0);
  mask_ = fitted(mask_);
}

void InferAttention::check_statistics() {
  maximum_.clear(), sum_.clear();
  if (!softmax_lse_flag) return;
  const bool packed = layout_.packed();
  const Dims wanted = packed ? Dims{q_.shape[2], q_.shape[1], 1} : Dims{q_.shape[0], q_.shape[1], q_.shape[2], 1};
  require(softmax_lse.defined() && softmax_lse.dtype == DType::kFloat && softmax_lse.shape == wanted,
          "softmaxLse must be float32 {} when softmaxLseFlag is on", wanted);
  maximum_.resize(static_cast<size_t>(count_of(wanted) * 8));
  sum_.resize(maximum_.size());
}

}  // namespace npu::ops
