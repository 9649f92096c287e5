// SPDX-License-Identifier: Apache-2.0
// The two products of a transformer's feed-forward part with what is between them:
//   out = activation(x @ weight1 + bias1) @ weight2 + bias2
// for all tokens, or expert by expert: tokens then lie in the order of the experts. What is between the products stays
// float32 up to the result, which is rounded once.
#include <string_view>
#include <vector>

#include "ops/matmul/product.h"
#include "ops/operator.h"
#include "ops/runner/call.h"
#include "ops/scratch.h"

namespace npu::ops {
namespace {

constexpr std::string_view kPlain[] = {"gelu", "relu", "silu"};

bool absent(const Tensor& t) { return !t.defined() || t.count() == 0; }

// Of activations with a gate: the hidden numbers are halved.
bool is_gated(std::string_view activation) { return activation == "swiglu"; }

/// `activation` as an operator of ours; raises 161002 for others.
std::string_view operator_of(std::string_view activation) {
  if (activation == "fastgelu") return "fast_gelu";
  if (is_gated(activation)) return "swiglu";
  for (const std::string_view name : kPlain) {
    if (activation == name) return name;
  }
  require(activation != "geglu" && activation != "reglu",
          "activation '{}' is not built: which half is the gate is not documented; call the two products and the gate",
          activation);
  fail(Code::kNnInvalidParam, "activation is '{}'; use fastgelu, gelu, relu, silu or swiglu", activation);
}

struct FeedForward final : Operator {
  Tensor x, weight1, weight2, bias1, bias2, scale, offset, deq_scale1, deq_scale2, antiquant_scale1, antiquant_scale2,
      antiquant_offset1, antiquant_offset2, out;
  std::vector<int64_t> expert_tokens;
  std::string activation;
  bool tokens_index_flag = false;

  void prepare() override;
  void run() override;
  int64_t cost() const override;

 private:
  /// The tokens of one expert.
  struct Part {
    Tensor x, weight1, weight2, bias1, bias2, out;
    Product first, second;
  };
  void check() const;
  std::vector<int64_t> ends() const;
  void add(const Tensor& tokens, const Tensor& results, size_t expert, int64_t begin, int64_t end);
  Tensor hidden(float* data, int64_t rows, bool halved) const;
  void activate(const Tensor& all, const Tensor& gated) const;

  std::vector<Part> parts_;
  std::string_view operator_;
  int64_t most_rows_ = 0;
};

// The member of one expert; the tensor itself where there are none.
Tensor member(const Tensor& t, size_t expert, bool experts) {
  if (!experts || absent(t)) return absent(t) ? Tensor() : t;
  Tensor one =
      t.view(Dims(std::span(t.shape.data() + 1, t.rank() - 1)), Dims(std::span(t.strides.data() + 1, t.rank() - 1)));
  one.offset += static_cast<int64_t>(expert) * t.strides[0];
  return one;
}

// [tokens, features]: the axes before the last must be one behind the other.
Tensor as_rows(const char* name, const Tensor& t) {
  int64_t rows = 1, stride = t.rank() < 2 ? 0 : t.strides[t.rank() - 2];
  for (size_t i = t.rank() - 1; i-- > 0;) {
    require(t.shape[i] <= 1 || t.strides[i] == stride * rows, "{} is {} with strides {}; make it contiguous", name, t,
            t.strides);
    rows *= t.shape[i];
  }
  return t.view({rows, t.shape.back()}, {stride, t.strides.back()});
}

void FeedForward::check() const {
  require(x.dtype == DType::kHalf || x.dtype == DType::kBFloat16, "x is {}; use float16 or bfloat16", x);
  require(weight1.dtype == x.dtype && weight2.dtype == x.dtype && out.dtype == x.dtype,
          "x is {}, weight1 {}, weight2 {}, out {}: they must be of one type; weights of 8 bits are not built", x.dtype,
          weight1.dtype, weight2.dtype, out.dtype);
  for (const Tensor* t : {&scale, &offset, &deq_scale1, &deq_scale2, &antiquant_scale1, &antiquant_scale2,
                          &antiquant_offset1, &antiquant_offset2}) {
    require(absent(*t), "a scale or offset is {}; quantised weights are not built: give weights of x's type", *t);
  }
  const size_t rank = expert_tokens.empty() ? 2 : 3;
  require(weight1.rank() == rank && weight2.rank() == rank,
          "weight1 is {}, weight2 is {}: {} dimensions each with{} "
          "expert_tokens",
          weight1, weight2, rank, rank == 3 ? "" : "out");
  require(rank == 2 ||
              (weight1.shape[0] == weight2.shape[0] && weight1.shape[0] == static_cast<int64_t>(expert_tokens.size())),
          "weight1 is {}, weight2 is {}, expert_tokens has {} numbers: one for each expert", weight1, weight2,
          expert_tokens.size());
  require(x.rank() >= 2 && x.shape.back() == weight1.shape[rank - 2], "x is {}, weight1 is {}: inner sizes differ", x,
          weight1);
  const int64_t halves = is_gated(activation) ? 2 : 1;
  require(weight1.shape.back() == halves * weight2.shape[rank - 2],
          "weight1 is {}, weight2 is {}: activation {} wants {} columns of weight1 for each row of weight2", weight1,
          weight2, activation, halves);
  require(rank == 2 || halves == 1, "activation {} has no form with experts", activation);
  Dims wanted = x.shape;
  wanted[wanted.size() - 1] = weight2.shape.back();
  require_shape(out, wanted);
}

// Where the tokens of each expert end.
std::vector<int64_t> FeedForward::ends() const {
  int64_t tokens = 1;
  for (size_t i = 0; i + 1 < x.rank(); ++i) tokens *= x.shape[i];
  if (expert_tokens.empty()) return {tokens};
  std::vector<int64_t> found;
  for (const int64_t number : expert_tokens) {
    const int64_t last = found.empty() ? 0 : found.back();
    found.push_back(tokens_index_flag ? number : last + number);
    require(found.back() >= last, "expert_tokens names {} behind {}: no expert has less than no token", number, last);
  }
  require(found.back() == tokens, "expert_tokens comes to {} tokens, x has {}", found.back(), tokens);
  return found;
}

Tensor FeedForward::hidden(float* data, int64_t rows, bool halved) const {
  return make_tensor(data, DType::kFloat, {rows, weight1.shape.back() / (halved ? 2 : 1)});
}

void FeedForward::add(const Tensor& tokens, const Tensor& results, size_t expert, int64_t begin, int64_t end) {
  const bool experts = !expert_tokens.empty();
  Part& part = parts_.emplace_back();
  const auto rows_of = [&](const Tensor& t) {
    Tensor rows = t.view({end - begin, t.shape[1]}, t.strides);
    rows.offset += begin * t.strides[0];
    return rows;
  };
  part.x = rows_of(tokens), part.out = rows_of(results);
  part.weight1 = member(weight1, expert, experts), part.weight2 = member(weight2, expert, experts);
  const Tensor middle = hidden(nullptr, end - begin, false), gated = hidden(nullptr, end - begin, is_gated(activation));
  part.bias1 = addend(member(bias1, expert, experts), middle.shape);
  part.bias2 = addend(member(bias2, expert, experts), part.out.shape);
  part.first.plan(part.x, part.weight1, part.bias1, middle);
  part.second.plan(gated, part.weight2, part.bias2, part.out);
  most_rows_ = std::max(most_rows_, end - begin);
}

void FeedForward::prepare() {
  operator_ = operator_of(activation);
  check();
  parts_.clear();
  most_rows_ = 0;
  const Tensor tokens = as_rows("x", x), results = as_rows("out", out);
  int64_t begin = 0;
  size_t expert = 0;
  for (const int64_t end : ends()) {
    if (end > begin) add(tokens, results, expert, begin, end);
    begin = end, ++expert;
  }
}

void FeedForward::activate(const Tensor& all, const Tensor& gated) const {
  Call call(operator_);
  is_gated(activation) ? call.set("self", all) : call.set("self", Operand{all, {}});
  call.set("out", gated).run();
}

void FeedForward::run() {
  const int64_t width = weight1.shape.back();
  const Scratch<float> middle(most_rows_ * width), half(is_gated(activation) ? most_rows_ * width / 2 : 0);
  for (const Part& part : parts_) {
    const int64_t rows = part.x.shape[0];
    const Tensor all = hidden(middle, rows, false);
    const Tensor gated = is_gated(activation) ? hidden(half, rows, true) : all;
    part.first.run(part.x, part.weight1, part.bias1, all);
    activate(all, gated);
    part.second.run(gated, part.weight2, part.bias2, part.out);
  }
}

int64_t FeedForward::cost() const {
  int64_t sum = 1000;
  for (const Part& part : parts_) sum += part.first.cost() + part.second.cost();
  return sum;
}

NPU_OPERATOR(FeedForward, "feed_forward", "matmul", in<&FeedForward::x>("x"), in<&FeedForward::weight1>("weight1"),
             in<&FeedForward::weight2>("weight2"), attr<&FeedForward::expert_tokens>("expert_tokens"),
             optional<&FeedForward::bias1>("bias1"), optional<&FeedForward::bias2>("bias2"),
             optional<&FeedForward::scale>("scale"), optional<&FeedForward::offset>("offset"),
             optional<&FeedForward::deq_scale1>("deq_scale1"), optional<&FeedForward::deq_scale2>("deq_scale2"),
             optional<&FeedForward::antiquant_scale1>("antiquant_scale1"),
             optional<&FeedForward::antiquant_scale2>("antiquant_scale2"),
             optional<&FeedForward::antiquant_offset1>("antiquant_offset1"),
             optional<&FeedForward::antiquant_offset2>("antiquant_offset2"),
             attr<&FeedForward::activation>("activation"), attr<&FeedForward::tokens_index_flag>("tokens_index_flag"),
             out<&FeedForward::out>("out"));

}  // namespace
}  // namespace npu::ops
