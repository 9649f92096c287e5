// SPDX-License-Identifier: Apache-2.0
// Cross entropy of logits that are a product, with the vocabulary shared out over devices: what each device does before
// their maxima and sums are exchanged. Logits are made some at a time in float32, so that no tensor of tokens x
// vocabulary is needed.
#include "ops/matmul/linear_cross_entropy.h"

#include <cmath>
#include <vector>

#include "base/thread_pool.h"
#include "ops/operator.h"
#include "ops/scratch.h"
#include "ops/vector/loop/along_dim.h"
#include "ops/vector/loop/ordered_tensor.h"

namespace npu::ops {
namespace {

/// Logits of all tokens with the device's part of the vocabulary: their maximum, the sum of exponentials below it, and
/// how far the target's logit is below it; 0 where the target is not here.
struct LinearMaxSum final : Operator {
  Tensor input, weight, target, logits_max, sum_exp_logits, predicted_logits, target_mask, masked_target, logits;
  int64_t vocab_start_index = 0, vocab_end_index = 0;

  void prepare() override;
  void run() override;
  int64_t cost() const override { return 1000 + input.count() * weight.shape[0] / 16; }

 private:
  Product& product(int64_t rows) { return rows == rows_ ? whole_ : tail_; }
  void reduce(const float* made, int64_t first, int64_t rows, const std::vector<int64_t>& places) const;
  std::vector<int64_t> place_targets() const;

  int64_t rows_ = 1;
  Product whole_, tail_;
  OrderedTensor targets_, places_, bits_;
  Rows stored_;
};

void LinearMaxSum::prepare() {
  require_products(input, weight);
  const int64_t tokens = input.shape[0], words = weight.shape[0];
  require(words > 0, "weight is {}; the vocabulary must not be empty", weight);
  require_tokens("target", target, tokens), require_tokens("masked_target", masked_target, tokens);
  require(is_integer(target.dtype) && masked_target.dtype == target.dtype,
          "target is {}, masked_target {}; use int32 or "
          "int64 for both",
          target, masked_target);
  require(
      vocab_start_index >= 0 && vocab_end_index >= vocab_start_index && vocab_end_index - vocab_start_index < words,
      "vocab_start_index is {}, vocab_end_index {}, the vocabulary here has {} words: use 0 <= start <= end < start "
      "+ words",
      vocab_start_index, vocab_end_index, words);
  for (const Tensor* t : {&logits_max, &sum_exp_logits, &predicted_logits}) {
    require_tokens("an output", *t, tokens);
    require(t->dtype == DType::kFloat, "an output is {}; maxima, sums and predicted logits are float32", *t);
  }
  require(target_mask.dtype == DType::kUInt8 && target_mask.shape == Dims{(tokens + 7) / 8},
          "target_mask is {}; it has one bit for each of {} tokens, in uint8", target_mask, tokens);
  if (logits.defined()) {
    check_shape(logits, "vocab_parallel_logits", {tokens, words});
    stored_ = Rows(logits, 1, DType::kFloat);
  }
  targets_ = OrderedTensor(target, DType::kInt64), places_ = OrderedTensor(masked_target, DType::kInt64);
  bits_ = OrderedTensor(target_mask, DType::kInt64);
  rows_ = std::clamp<int64_t>(kLogits / words, 1, std::max<int64_t>(1, tokens));
  for (const int64_t rows : {rows_, tokens % rows_}) {
    if (rows > 0 && rows <= tokens)
      product(rows).plan(rows_of(input, 0, rows), weight.transposed(0, 1), {},
                         make_tensor(nullptr, DType::kFloat, {rows, words}));
  }
}

// Where each token's target stands in the vocabulary here, -1 where it does not; writes the mask and the places.
std::vector<int64_t> LinearMaxSum::place_targets() const {
  const auto tokens = static_cast<size_t>(input.shape[0]);
  std::vector<int64_t> places(tokens), shown(tokens), bits((tokens + 7) / 8, 0);
  targets_.load(0, input.shape[0], places.data());
  for (size_t i = 0; i < bits.size() * 8; ++i) {
    bool out = true;  // what fills up the last byte
    if (i < tokens) {
      out = places[i] < vocab_start_index || places[i] > vocab_end_index;
      places[i] = out ? -1 : places[i] - vocab_start_index;
      shown[i] = out ? 0 : places[i];
    }
    bits[i / 8] |= static_cast<int64_t>(out) << (7 - i % 8);
  }
  bits_.store(0, static_cast<int64_t>(bits.size()), bits.data());
  places_.store(0, input.shape[0], shown.data());
  return places;
}

void LinearMaxSum::reduce(const float* made, int64_t first, int64_t rows, const std::vector<int64_t>& places) const {
  const int64_t words = weight.shape[0];
  parallel_for(rows, std::max<int64_t>(1, (1 << 14) / words), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const float* x = made + row * words;
      const int64_t token = first + row, place = places[static_cast<size_t>(token)];
      float top = x[0];
      for (int64_t i = 1; i < words; ++i) top = x[i] > top || x[i] != x[i] ? x[i] : top;
      double sum = 0;
      for (int64_t i = 0; i < words; ++i) sum += static_cast<double>(std::exp(x[i] - top));
      logits_max.as<float>()[token * logits_max.strides[0]] = top;
      sum_exp_logits.as<float>()[token * sum_exp_logits.strides[0]] = static_cast<float>(sum);
      predicted_logits.as<float>()[token * predicted_logits.strides[0]] = place < 0 ? 0 : x[place] - top;
      if (!logits.defined()) continue;
      stored_.store(token, x);
    }
  });
}

void LinearMaxSum::run() {
  const int64_t tokens = input.shape[0], words = weight.shape[0];
  const std::vector<int64_t> places = place_targets();
  const Scratch<float> made(rows_ * words);
  for (int64_t first = 0; first < tokens; first += rows_) {
    const int64_t rows = std::min(rows_, tokens - first);
    product(rows).run(rows_of(input, first, rows), weight.transposed(0, 1), {},
                      make_tensor(made, DType::kFloat, {rows, words}));
    reduce(made, first, rows, places);
  }
}

NPU_OPERATOR(LinearMaxSum, "linear_max_sum", "loss", in<&LinearMaxSum::input>("input"),
             in<&LinearMaxSum::weight>("weight"), in<&LinearMaxSum::target>("target"),
             attr<&LinearMaxSum::vocab_start_index>("vocab_start_index"),
             attr<&LinearMaxSum::vocab_end_index>("vocab_end_index"), out<&LinearMaxSum::logits_max>("logits_max"),
             out<&LinearMaxSum::sum_exp_logits>("sum_exp_logits"),
             out<&LinearMaxSum::predicted_logits>("predicted_logits"), out<&LinearMaxSum::target_mask>("target_mask"),
             out<&LinearMaxSum::masked_target>("masked_target"), optional_out<&LinearMaxSum::logits>("logits"));
}  // namespace
}  // namespace npu::ops
