// SPDX-License-Identifier: Apache-2.0
// The gradients of linear_cross_entropy.cpp, the vocabulary some words at a time: those of the weight are then finished
// at once, and those of the input add up in float32.
#include <cmath>
#include <vector>

#include "base/thread_pool.h"
#include "ops/matmul/linear_cross_entropy.h"
#include "ops/operator.h"
#include "ops/scratch.h"
#include "ops/vector/elementwise/move.h"
#include "ops/vector/loop/along_dim.h"
#include "ops/vector/loop/ordered_tensor.h"

namespace npu::ops {
namespace {

/// A bit for each token, the first of a byte in its highest: set where another device has the token's target.
bool masked(const std::vector<uint8_t>& bits, int64_t token) {
  return (bits[static_cast<size_t>(token / 8)] >> (7 - token % 8) & 1) != 0;
}

struct LinearCrossEntropyGrad final : Operator {
  Tensor grad, input, weight, target_mask, masked_target, logits_max, sum_exp_logits, softmax, input_grad, weight_grad;
  double label_smoothing = 0;

  void prepare() override;
  void run() override;
  int64_t cost() const override { return 1000 + 3 * input.count() * weight.shape[0] / 16; }

 private:
  /// The products of a number of words.
  struct Block {
    Product logits, weight, input;
  };
  Block& block(int64_t words) { return words == words_ ? whole_ : tail_; }
  struct Token {
    float grad = 0, top = 0, sum = 1;
    int64_t place = -1;
  };
  std::vector<Token> tokens() const;
  void differentiate(float* g, int64_t first, int64_t words, const std::vector<Token>& tokens) const;

  int64_t words_ = 1;
  Block whole_, tail_;
  Move finish_;
};

void LinearCrossEntropyGrad::prepare() {
  require_products(input, weight);
  const int64_t tokens = input.shape[0], words = weight.shape[0];
  require(label_smoothing == 0, "label_smoothing is {}; only 0 is supported", label_smoothing);
  require_tokens("grad", grad, tokens), require_tokens("masked_target", masked_target, tokens);
  require(grad.dtype == DType::kFloat && is_integer(masked_target.dtype),
          "grad is {}, masked_target {}; use float32 and integers", grad, masked_target);
  require(target_mask.dtype == DType::kUInt8 && target_mask.rank() == 1 && target_mask.shape[0] * 8 >= tokens,
          "target_mask is {}; it has one bit for each of {} tokens, in uint8", target_mask, tokens);
  check_shape(input_grad, "input_grad", input.shape), check_shape(weight_grad, "weight_grad", weight.shape);
  if (softmax.defined()) {
    check_shape(softmax, "softmax", {tokens, words});
    require(softmax.dtype == DType::kFloat, "softmax is {}; it must be float32", softmax);
  } else {
    require(logits_max.defined() && sum_exp_logits.defined(),
            "softmax is not given; then logits_max and sum_exp_logits must be");
    require_tokens("logits_max", logits_max, tokens), require_tokens("sum_exp_logits", sum_exp_logits, tokens);
    require(logits_max.dtype == DType::kFloat && sum_exp_logits.dtype == DType::kFloat,
            "logits_max is {}, sum_exp_logits {}; both are float32", logits_max, sum_exp_logits);
  }
  if (tokens == 0 || words == 0) return;
  words_ = std::clamp<int64_t>(kLogits / tokens, 1, words);
  const Tensor sums = make_tensor(nullptr, DType::kFloat, input.shape);
  for (const int64_t n : {words_, words % words_}) {
    if (n == 0) continue;
    const Tensor g = make_tensor(nullptr, DType::kFloat, {tokens, n}), part = rows_of(weight, 0, n);
    block(n).logits.plan(input, part.transposed(0, 1), {}, g);
    block(n).weight.plan(g.transposed(0, 1), input, {}, rows_of(weight_grad, 0, n));
    block(n).input.plan(g, part, sums, sums, 1, 1);
  }
}

std::vector<LinearCrossEntropyGrad::Token> LinearCrossEntropyGrad::tokens() const {
  const auto number = [](const Tensor& t, int64_t i) { return t.as<float>()[i * t.strides[0]]; };
  std::vector<Token> found(static_cast<size_t>(input.shape[0]));
  std::vector<int64_t> places(found.size());
  OrderedTensor(masked_target, DType::kInt64).load(0, masked_target.count(), places.data());
  std::vector<uint8_t> bits(static_cast<size_t>(target_mask.shape[0]));
  for (size_t i = 0; i < bits.size(); ++i)
    bits[i] = target_mask.as<uint8_t>()[static_cast<int64_t>(i) * target_mask.strides[0]];
  for (size_t i = 0; i < found.size(); ++i) {
    const auto token = static_cast<int64_t>(i);
    const bool elsewhere = masked(bits, token);
    require(elsewhere || (places[i] >= 0 && places[i] < weight.shape[0]),
            "masked_target[{}] is {}; the vocabulary here has {} words", i, places[i], weight.shape[0]);
    found[i].grad = number(grad, token);
    found[i].place = elsewhere ? -1 : places[i];
    if (softmax.defined()) continue;
    found[i].top = number(logits_max, token), found[i].sum = number(sum_exp_logits, token);
  }
  return found;
}

// Logits, or probabilities that are given, become gradients of logits.
void LinearCrossEntropyGrad::differentiate(float* g, int64_t first, int64_t words,
                                           const std::vector<Token>& tokens) const {
  parallel_for(input.shape[0], std::max<int64_t>(1, (1 << 14) / words), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const Token& token = tokens[static_cast<size_t>(row)];
      float* y = g + row * words;
      const auto given = [&](int64_t i) {
        return softmax.as<float>()[row * softmax.strides[0] + (first + i) * softmax.strides[1]];
      };
      for (int64_t i = 0; i < words; ++i) {
        const float p = softmax.defined() ? given(i) : std::exp(y[i] - token.top) / token.sum;
        y[i] = (p - (first + i == token.place ? 1.0f : 0.0f)) * token.grad;
      }
    }
  });
}

void LinearCrossEntropyGrad::run() {
  const int64_t count = input.shape[0], words = weight.shape[0];
  if (count == 0 || words == 0) return;
  const std::vector<Token> found = tokens();
  const Scratch<float> g(count * words_), sums(input.count());
  std::fill_n(sums.data(), input.count(), 0.0f);
  const Tensor whole = make_tensor(sums, DType::kFloat, input.shape);
  for (int64_t first = 0; first < words; first += words_) {
    const int64_t n = std::min(words_, words - first);
    const Tensor logits = make_tensor(g, DType::kFloat, {count, n}), part = rows_of(weight, first, n);
    if (!softmax.defined()) block(n).logits.run(input, part.transposed(0, 1), {}, logits);
    differentiate(g, first, n, found);
    block(n).weight.run(logits.transposed(0, 1), input, {}, rows_of(weight_grad, first, n));
    block(n).input.run(logits, part, whole, whole);
  }
  finish_.plan(whole, input_grad);
  finish_.run();
}

NPU_OPERATOR(LinearCrossEntropyGrad, "linear_cross_entropy_grad", "loss", in<&LinearCrossEntropyGrad::grad>("grad"),
             in<&LinearCrossEntropyGrad::input>("input"), in<&LinearCrossEntropyGrad::weight>("weight"),
             in<&LinearCrossEntropyGrad::target_mask>("target_mask"),
             in<&LinearCrossEntropyGrad::masked_target>("masked_target"),
             attr<&LinearCrossEntropyGrad::label_smoothing>("label_smoothing"),
             optional<&LinearCrossEntropyGrad::logits_max>("logits_max"),
             optional<&LinearCrossEntropyGrad::sum_exp_logits>("sum_exp_logits"),
             optional<&LinearCrossEntropyGrad::softmax>("softmax"),
             out<&LinearCrossEntropyGrad::input_grad>("input_grad"),
             out<&LinearCrossEntropyGrad::weight_grad>("weight_grad"));

}  // namespace
}  // namespace npu::ops
