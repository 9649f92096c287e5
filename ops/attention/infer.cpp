// SPDX-License-Identifier: Apache-2.0
// Attention for inference: keys and values as one batch, as one tensor a sample, in pages, or one sequence behind the
// other, with the length of each sample where these differ. Each part is one call of flash_attention.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "ops/attention/infer_layout.h"
#include "ops/attention/layout.h"
#include "ops/attention/pages.h"
#include "ops/operator.h"
#include "ops/runner/call.h"
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

/// Arguments for quantised and shared caches, which are not built, under the client's names.
struct Unbuilt {
  Tensor dequant_scale1, quant_scale1, dequant_scale2, quant_scale2, quant_offset2, antiquant_scale, antiquant_offset,
      query_padding_size, kv_padding_size, key_antiquant_scale, key_antiquant_offset, value_antiquant_scale,
      value_antiquant_offset, key_shared_prefix, value_shared_prefix, key_rope_antiquant_scale, dequant_scale_query,
      q_start_idx, kv_start_idx;
};

struct InferAttention final : Operator, Unbuilt {
  Tensor query, pse_shift, atten_mask, block_table, query_rope, key_rope, learnable_sink;
  std::vector<Tensor> key, value;
  std::vector<int64_t> actual_seq_lengths, actual_seq_lengths_kv, actual_shared_prefix_len;
  int64_t num_heads = 1;
  double scale = 1;
  int64_t pre_tokens = INT64_MAX, next_tokens = INT64_MAX;
  std::string input_layout;
  int64_t num_key_value_heads = 0;
  int64_t sparse_mode = 0, pse_type = 0;
  bool softmax_lse_flag = false;
  Tensor attention_out, softmax_lse;

  void prepare() override;
  void run() override;
  int64_t cost() const override;

 private:
  /// One call: sample `b` (-1: all), where its queries and keys begin in the row that holds them and how many there
  /// are, and where its statistics begin.
  struct Part {
    Call call{"flash_attention"};
    int64_t b, first_query = 0, first_key = 0, queries = 0, keys = 0, statistics = 0;
  };
  void refuse_unbuilt() const;
  void check_heads();
  void check_keys(int64_t kv_heads);
  void check_pages(int64_t kv_heads);
  void check_rope(int64_t kv_heads);
  void check_sink();
  void check_masks();
  void check_statistics();
  bool paged() const { return !absent(block_table); }
  int64_t samples() const;
  int64_t keys_of_longest() const;
  int64_t length(const std::vector<int64_t>& lengths, int64_t b, int64_t longest, const char* name) const;
  void measure(Part& part) const;
  void measure_packed(Part& part) const;
  void plan_part(int64_t b);
  Tensor queries_of(const Part& part, const Tensor& t) const;
  Tensor keys_of(const Part& part, const std::vector<Tensor>& tensors, size_t which) const;
  void gather(const Part& part);
  void clear_behind(int64_t b, int64_t from) const;
  void store_lse(const Part& part) const;

  InferLayout layout_;
  Tensor q_, out_, q_rope_, pse_, mask_;  ///< [B, N, S, …] views
  std::vector<Tensor> k_, v_, k_rope_;    ///< [B or 1, Nkv, S, D]
  Pages pages_[3];                        ///< of keys, values and, where there are any, turned columns of keys
  std::vector<std::byte> gathered_[3];    ///< their tokens of one sample at a time
  std::vector<float> sink_;
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
