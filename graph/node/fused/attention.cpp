// SPDX-License-Identifier: Apache-2.0
// Attention and its gradient, as the pass attention makes them: views of q, k, v in which axes stand as the operators
// want them.
#include "graph/node/array.h"
#include "graph/node/fused/fused.h"
#include "graph/plan/refusal.h"

namespace npu::graph {
namespace {

/// The axes' letters, '*' being as many of B and N as the rank leaves.
std::string letters(const Lowering& l, const char* name, size_t rank) {
  std::string axes = l.attributes().get<std::string>(name);
  if (const size_t at = axes.find('*'); at != std::string::npos) {
    const size_t batch = rank - std::min(rank, axes.size() - 1);
    if (batch > 2) throw Unfused{"it has more than four dimensions"};
    axes.replace(at, 1, std::string("BN").substr(2 - batch));
  }
  if (axes.size() != rank) throw Unfused{"a product is of another rank"};
  return axes;
}

/// `view` with its axes in `order` (four letters); those it does not have are of one element.
Planned ordered(const Planned& view, const std::string& axes, const std::string& order) {
  Dims shape, strides;
  for (const char letter : order) {
    const size_t at = axes.find(letter);
    shape.push_back(at == std::string::npos ? 1 : view.view.shape[at]);
    strides.push_back(at == std::string::npos ? 0 : view.view.strides[at]);
  }
  return restrided(view, shape, strides);
}

/// The inputs as [B, N, S, D].
struct Heads {
  Planned q, k, v, bias = {};
  std::string out_axes = {};
  double factor = 1;

  int64_t size(char letter) const {
    return letter == 'E'   ? v.view.shape[3]
           : letter == 'T' ? k.view.shape[2]
                           : q.view.shape[std::string("BNSD").find(letter)];
  }
  Dims sizes(const std::string& axes) const {
    Dims out;
    for (const char letter : axes) out.push_back(size(letter));
    return out;
  }
};

Heads heads_of(const Lowering& l) {
  const auto view = [&](const char* name, const char* axes, const char* order) {
    const size_t at = place_of(l, name);
    return ordered(l.input(at), letters(l, axes, l.shape(at).size()), order);
  };
  Heads h{.q = view("q", "q_axes", "BNSD"), .k = view("k", "k_axes", "BNTD"), .v = view("v", "v_axes", "BNTE")};
  h.out_axes = letters(l, "out_axes", l.shape(place_of(l, "q")).size());
  const Dims &q = h.q.view.shape, &k = h.k.view.shape, &v = h.v.view.shape;
  const bool fits = q[0] == k[0] && q[0] == v[0] && q[1] == k[1] && q[1] == v[1] && q[3] == k[3] && k[2] == v[2];
  // Products of matrices broadcast.
  if (!fits || count_of(q) == 0 || count_of(v) == 0) throw Unfused{"its operands do not fit each other"};
  if (const auto factor = role(l, "factor")) {
    if (!l.known(*factor) || l.input(*factor).view.count() != 1) throw Unfused{"its factor is no known number"};
    const double value = number(l, *factor).to_double();
    h.factor = l.attributes().get<bool>("divides") ? 1 / value : value;
  }
  if (const auto bias = role(l, "bias")) {
    const Dims scores{q[0], q[1], q[2], k[2]};
    if (l.shape(*bias).size() > 4 || !(broadcast(l.shape(*bias), scores) == scores))
      throw Unfused{"its bias is larger than the scores"};
    h.bias = expanded(l.input(*bias), scores);
  }
  return h;
}

void set_arguments(OperatorCall& call, const Heads& h) {
  call.set("query", h.q).set("key", h.k).set("value", h.v);
  if (h.bias.slot >= 0) call.set("pse", h.bias).set("pse_type", int64_t{0});  // added to what is scaled
  call.set("scale", h.factor).set("head_num", h.q.view.shape[1]).set("input_layout", std::string("BNSD"));
  call.set("hidden_rows_are_nan", true);
}

/// Numbers of rows, as the operators keep them: eight times, here in one place.
Dims row_numbers(const Heads& h) { return {h.q.view.shape[0], h.q.view.shape[1], h.q.view.shape[2], 1}; }
Planned eight_times(const Planned& numbers) {
  Dims shape = numbers.view.shape;
  shape[3] = 8;
  return expanded(numbers, shape);
}

void forward(Lowering& l) {
  const Heads h = heads_of(l);
  const Planned out = l.make(0, l.node().outputs[0].type.dtype, h.sizes(h.out_axes));
  OperatorCall call = l.call("flash_attention");
  set_arguments(call, h);
  call.set("attention_out", ordered(out, h.out_axes, "BNSE"));
  for (const auto& [name, field] : {std::pair{"maximum", "softmax_max"}, {"sum", "softmax_sum"}})
    if (const auto at = role(l, name)) call.set(field, eight_times(l.make(*at, DType::kFloat, row_numbers(h))));
}

void gradient(Lowering& l) {
  const Heads h = heads_of(l);
  const auto given = [&](const char* name) {
    const auto at = role(l, name);
    if (!at) throw Unfused{"its forward is not fused"};
    return l.input(*at);
  };
  const Planned maximum = given("maximum"), sum = given("sum"), dy = given("dy"), out = given("out");
  const Dims result = h.sizes(h.out_axes);
  // Where the forward had to be taken apart, its parts left no numbers of the rows.
  if (!(maximum.shape() == row_numbers(h)) || !(dy.shape() == result) || !(out.shape() == result))
    throw Unfused{"its forward is not fused"};
  OperatorCall call = l.call("flash_attention_grad");
  set_arguments(call, h);
  call.set("dy", ordered(dy, h.out_axes, "BNSE")).set("attention", ordered(out, h.out_axes, "BNSE"));
  call.set("softmax_max", eight_times(maximum)).set("softmax_sum", eight_times(sum));
  const auto brings = [&](const char* name, const char* axes, const char* of, const char* order) {
    const size_t rank = l.shape(place_of(l, of)).size();
    const std::string own = letters(l, axes, rank);
    const Dims shape = h.sizes(own);
    const auto at = role(l, name);
    const DType dtype = l.dtype(place_of(l, of));
    call.set(name, ordered(at ? l.make(*at, dtype, shape) : l.scratch(dtype, shape), own, order));
  };
  brings("dq", "q_axes", "q", "BNSD"), brings("dk", "k_axes", "k", "BNTD"), brings("dv", "v_axes", "v", "BNTE");
}

NPU_NODE(Kind::kAttention, forward);
NPU_NODE(Kind::kAttentionGrad, gradient);

}  // namespace
}  // namespace npu::graph
