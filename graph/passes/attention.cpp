// SPDX-License-Identifier: Apache-2.0
// Attention: softmax(Q K^T · factor + bias) V, as products of any layout (Einsum of Keras's MultiHeadAttention, or
// BatchMatMul), becomes one node that never writes its scores, and its gradient another. The gradient's reads the
// result and the statistics of the rows from the forward's and computes the scores again.
//
// Axes are called B (batch), N (heads), S (queries), T (keys), D (depth of a key), E (depth of a value); '*' stands for
// all batch axes of a product of matrices.
#include <algorithm>
#include <optional>

#include "graph/passes/pattern/fuse.h"
#include "graph/passes/pattern/match.h"
#include "graph/passes/pattern/product.h"
#include "graph/passes/pipeline.h"

namespace npu::graph {
namespace {

// Fewer scores of a head than this stay in the caches, and computing them again costs more than keeping them.
constexpr int64_t kManyScores = int64_t{1} << 20;

struct Forward {
  NodeId softmax = -1, shift = -1, scale = -1;
  NodeId kept = -1;         ///< what a dropout that drops nothing leaves behind the softmax
  Product scores, combine;  ///< Q · K and P · V, in this order
  Edge bias = {}, factor = {};
  bool divides = false;
  std::string axes;  ///< of the scores

  /// The probabilities that V is multiplied with.
  Edge probabilities() const { return {kept >= 0 ? kept : softmax, 0}; }
  std::vector<NodeId> to_probabilities() const {
    std::vector<NodeId> out{scores.node, softmax};
    for (const NodeId id : {scale, shift, kept})
      if (id >= 0) out.push_back(id);
    return out;
  }
  std::vector<NodeId> members() const {
    std::vector<NodeId> out = to_probabilities();
    out.push_back(combine.node);
    return out;
  }
};

/// The names of the axes of scores.
std::string score_axes(const std::string& letters) {
  if (letters == "*mn") return "*ST";
  return letters.size() == 4 ? "BNST" : letters.size() == 3 ? "NST" : letters.size() == 2 ? "ST" : "";
}

bool same_letters(std::string a, std::string b) {
  std::sort(a.begin(), a.end()), std::sort(b.begin(), b.end());
  return a == b;
}

std::string batch_of(const std::string& axes) { return axes.substr(0, axes.size() - 2); }

/// The product that brings `edge`, as Q · K.
std::optional<Product> scores_at(const Function& f, Edge edge) {
  std::optional<Product> p = edge.output == 0 ? as_product(f, edge.node) : std::nullopt;
  const std::string axes = p ? score_axes(p->out_axes) : "";
  if (axes.empty()) return std::nullopt;
  p = renamed(p, &Product::out_axes, axes, 'D');
  if (p && p->a_axes.find('S') == std::string::npos) p = with_first(p, p->b);
  const std::string batch = batch_of(axes);
  const bool fits = p && same_letters(p->a_axes, batch + "SD") && same_letters(p->b_axes, batch + "TD");
  return fits ? p : std::nullopt;
}

/// True when one node takes the value; that others ask its shape is no use of it.
bool lone(const Function& f, const Readers& readers, Edge edge) {
  int64_t count = 0;
  for (const NodeId reader : readers.of(edge)) count += reader < 0 || f[reader].kind != Kind::kShape ? 1 : 0;
  return count == 1;
}

/// [· factor or / factor] Q · K.
bool find_scaled(const Function& f, const Readers& readers, Edge edge, Forward& out) {
  if (!lone(f, readers, edge)) return false;
  const Node& node = f[edge.node];
  const size_t operands = node.kind == Kind::kMultiply ? 2 : node.kind == Kind::kDivide ? 1 : 0;
  for (size_t i = 0; i < operands; ++i) {
    const std::optional<Product> p = scores_at(f, node.inputs[i]);
    if (!p || !lone(f, readers, node.inputs[i])) continue;
    out.scale = edge.node, out.factor = node.inputs[1 - i], out.divides = node.kind == Kind::kDivide, out.scores = *p;
    return true;
  }
  const std::optional<Product> p = scores_at(f, edge);
  if (p) out.scores = *p;
  return p.has_value();
}

/// Walks up from what the softmax reads: [+ bias] and the scores.
bool find_scores(const Function& f, const Readers& readers, Edge edge, Forward& out) {
  if (find_scaled(f, readers, edge, out)) return true;
  const Node& node = f[edge.node];
  if (node.kind != Kind::kAdd || !lone(f, readers, edge)) return false;
  for (size_t i = 0; i < 2; ++i) {
    if (!find_scaled(f, readers, node.inputs[i], out)) continue;
    out.shift = edge.node, out.bias = node.inputs[1 - i];
    return true;
  }
  return false;
}

/// The product of a tensor of scores with another, which has the batch axes, `shared` and the letter `rest`; the result
/// has `kept` and `rest`.
std::optional<Product> product_with(const Function& f, NodeId id, Edge scores, const std::string& axes, char shared,
                                    char rest, char kept) {
  const std::optional<Product> p = renamed(with_first(as_product(f, id), scores), &Product::a_axes, axes, rest);
  const std::string batch = batch_of(axes);
  const bool fits =
      p && same_letters(p->b_axes, batch + shared + rest) && same_letters(p->out_axes, batch + kept + rest);
  return fits ? p : std::nullopt;
}

bool find(const Function& f, const Readers& readers, NodeId softmax, Forward& out) {
  const DType dtype = f[softmax].outputs[0].type.dtype;
  if (dtype != DType::kFloat && dtype != DType::kHalf && dtype != DType::kBFloat16) return false;
  out.softmax = softmax;
  if (!find_scores(f, readers, f[softmax].inputs[0], out)) return false;
  out.axes = out.scores.out_axes;
  for (const NodeId reader : readers.of({softmax, 0}))
    if (reader >= 0 && f[reader].kind == Kind::kIdentity) out.kept = reader;
  for (const NodeId reader : readers.of(out.probabilities()))
    if (const auto p = product_with(f, reader, out.probabilities(), out.axes, 'T', 'E', 'S'))
      return out.combine = *p, true;
  return false;
}

// ---- gradient

struct Gradient {
  std::vector<NodeId> members, again;  ///< again: shapes of scores, that only it asks
  NodeId scores = -1;                  ///< what ends the softmax's gradient
  Product dp, dv, dq, dk;
};

bool is_last_axis(const Function& f, Edge edge, const std::string& axes) {
  const Literal* literal = constant_at(f, edge);
  if (literal == nullptr || literal->type.dtype != DType::kInt32 || literal->count() != 1) return false;
  const int32_t axis = *literal->as<int32_t>();
  return axis == -1 || (axes[0] != '*' && axis == static_cast<int32_t>(axes.size()) - 1);
}

/// dS = (dP - sum(dP · P)) · P, from the Mul that ends it.
bool find_softmax_gradient(const Function& f, const Readers& readers, const Forward& forward, NodeId id,
                           Gradient& out) {
  const Edge p{forward.softmax, 0};
  const Edge less = id >= 0 && f[id].kind == Kind::kMultiply ? other_input(f[id], p) : Edge{};
  if (producer(f, less, Kind::kSubtract) < 0 || readers.only(less) != id) return false;
  const Edge dp = f[less.node].inputs[0], sum = f[less.node].inputs[1];
  if (producer(f, sum, Kind::kSum) < 0 || readers.only(sum) != less.node) return false;
  const Node& summed = f[sum.node];
  if (!summed.attributes.get_or<bool>("keep_dims", false) || !is_last_axis(f, summed.inputs[1], forward.axes))
    return false;
  const NodeId multiplied = producer(f, summed.inputs[0], Kind::kMultiply);
  if (multiplied < 0 || readers.only({multiplied, 0}) != sum.node || other_input(f[multiplied], p) != dp) return false;
  const std::optional<Product> product =
      renamed(with_first(as_product(f, dp.node), forward.combine.b), &Product::out_axes, forward.axes, 'E');
  const bool fits = product && readers.of(dp).size() == 2 && product->a_axes == forward.combine.b_axes &&
                    product->b_axes == forward.combine.out_axes;
  if (!fits) return false;
  out.dp = *product, out.scores = id;
  out.members = {id, less.node, sum.node, multiplied, dp.node};
  return true;
}

/// Where the batch is unknown to TensorFlow, the gradient of a sum is summed and reshaped to the scores' shape, in case
/// the bias was the larger one.
Edge through_reduction(const Function& f, const Readers& readers, Edge edge, Gradient& out) {
  const NodeId sum = readers.only(edge);
  if (sum < 0 || f[sum].kind != Kind::kSum || f[sum].inputs[0] != edge) return edge;
  const NodeId axes = f[sum].inputs[1].node, reshape = readers.only({sum, 0});
  if (f[axes].kind != Kind::kBroadcastGradientArgs || reshape < 0 || f[reshape].kind != Kind::kReshape) return edge;
  const NodeId shape = producer(f, f[reshape].inputs[1], Kind::kShape);
  if (shape < 0 || f[reshape].inputs[0] != Edge{sum, 0} ||
      f[axes].inputs[static_cast<size_t>(f[sum].inputs[1].output)] != Edge{shape, 0})
    return edge;
  out.members.insert(out.members.end(), {sum, reshape});
  out.again = {axes, shape};
  return {reshape, 0};
}

/// The gradient of the scores before they were scaled.
bool find_unscaled(const Function& f, const Readers& readers, const Forward& forward, Edge& ds, Gradient& out) {
  if (forward.scale < 0) return true;
  const NodeId unscale = readers.only(ds);
  if (unscale < 0 || f[unscale].kind != f[forward.scale].kind) return false;
  const Node& node = f[unscale];
  const bool same =
      forward.divides ? node.inputs == std::vector{ds, forward.factor} : other_input(node, ds) == forward.factor;
  out.members.push_back(unscale);
  ds = {unscale, 0};
  return same;
}

/// The product among the readers of `scores` with `other`, whose axes are `other_axes` and whose result has `out_axes`.
bool find_product(const Function& f, const Readers& readers, Edge scores, const std::string& axes, Edge other,
                  const std::string& other_axes, const std::string& out_axes, Product& out) {
  const bool of_queries = out_axes.find('S') != std::string::npos;
  const char rest = out_axes.find('D') != std::string::npos ? 'D' : 'E';
  for (const NodeId reader : readers.of(scores)) {
    const auto p = product_with(f, reader, scores, axes, of_queries ? 'T' : 'S', rest, of_queries ? 'S' : 'T');
    if (!p || p->b != other || p->b_axes != other_axes || p->out_axes != out_axes) continue;
    out = *p;
    return true;
  }
  return false;
}

bool find(const Function& f, const Readers& readers, const Forward& forward, Gradient& out) {
  const Product &scores = forward.scores, &combine = forward.combine;
  bool found = false;
  for (const NodeId reader : readers.of({forward.softmax, 0}))
    found = found || find_softmax_gradient(f, readers, forward, reader, out);
  if (!found || !find_product(f, readers, forward.probabilities(), forward.axes, out.dp.b, combine.out_axes,
                              combine.b_axes, out.dv))
    return false;
  Edge ds{out.scores, 0};
  if (forward.shift >= 0) ds = through_reduction(f, readers, ds, out);
  found = find_unscaled(f, readers, forward, ds, out) && readers.of(ds).size() == 2 &&
          find_product(f, readers, ds, forward.axes, scores.b, scores.b_axes, scores.a_axes, out.dq) &&
          find_product(f, readers, ds, forward.axes, scores.a, scores.a_axes, scores.b_axes, out.dk);
  out.members.insert(out.members.end(), {out.dv.node, out.dq.node, out.dk.node});
  return found;
}

// ---- fusing

void describe(Function& f, const FusedNode& fused, const Forward& forward) {
  set_input_roles(f, fused,
                  {{"q", forward.scores.a},
                   {"k", forward.scores.b},
                   {"v", forward.combine.b},
                   {"bias", forward.bias},
                   {"factor", forward.factor}});
  Attributes& attributes = f[fused.id].attributes;
  attributes.set("q_axes", forward.scores.a_axes), attributes.set("k_axes", forward.scores.b_axes);
  attributes.set("v_axes", forward.combine.b_axes), attributes.set("out_axes", forward.combine.out_axes);
  attributes.set("divides", forward.divides);
}

NodeId fuse_gradient(Function& f, const Forward& forward, const Gradient& gradient) {
  std::vector<NodeId> again = forward.to_probabilities();
  again.insert(again.end(), gradient.again.begin(), gradient.again.end());
  const FusedNode fused = fuse(f, gradient.members, Kind::kAttentionGrad, again);
  describe(f, fused, forward);
  set_input_roles(f, fused, {{"dy", gradient.dp.b}});
  set_output_roles(f, fused,
                   {{"dq", {gradient.dq.node, 0}}, {"dk", {gradient.dk.node, 0}}, {"dv", {gradient.dv.node, 0}}});
  for (const NodeId id : gradient.again) {
    const Readers readers(f);
    bool read = false;
    for (size_t i = 0; i < f[id].outputs.size(); ++i) read = read || !readers.none({id, static_cast<int32_t>(i)});
    if (!read) f.remove(id);
  }
  return fused.id;
}

/// Two more outputs of the forward's node, and its result, go to the gradient's: its parts know nothing of them.
void connect(Function& f, NodeId forward, NodeId gradient) {
  const auto give = [&](const char* name, Edge edge) {
    f[gradient].attributes.set(name, static_cast<int64_t>(f[gradient].inputs.size()));
    add_input(f, gradient, edge);
  };
  give("out", {forward, 0});
  for (const char* name : {"maximum", "sum"}) {
    const Edge edge = add_output(f, forward, name, ValueType::tensor(DType::kFloat));
    f[forward].attributes.set(name, int64_t{edge.output});
    give(name, edge);
  }
}

/// True when nothing but the forward's nodes (and the gradient's) reads what is between them.
bool closed(const Function& f, const Forward& forward, const std::vector<NodeId>& gradient) {
  const Readers readers(f);
  const std::vector<NodeId> members = forward.members();
  for (const NodeId id : forward.to_probabilities())
    for (const NodeId reader : readers.of({id, 0}))
      if (std::find(members.begin(), members.end(), reader) == members.end() &&
          std::find(gradient.begin(), gradient.end(), reader) == gradient.end())
        return false;
  return true;
}

/// Whether the scores of a head are known to be fewer than kManyScores.
bool has_few_scores(const Function& f, const Forward& forward) {
  const std::optional<Dims>& dims = f.output({forward.scores.node, 0}).shape.dims;
  if (!dims) return false;
  const int64_t queries = (*dims)[dims->size() - 2], keys = (*dims)[dims->size() - 1];
  return queries != kUnknownDim && keys != kUnknownDim && queries * keys < kManyScores;
}

void fuse_both(Function& f, NodeId softmax, FusionCount& count) {
  const Readers readers(f);
  Forward forward;
  Gradient gradient;
  if (!find(f, readers, softmax, forward)) return;
  if (has_few_scores(f, forward)) return count.decline("it has few scores: its parts are as fast");
  const bool trained = find(f, readers, forward, gradient);
  std::vector<NodeId> taken = trained ? gradient.members : std::vector<NodeId>{};
  taken.insert(taken.end(), gradient.again.begin(), gradient.again.end());
  if (!closed(f, forward, taken)) return count.decline("others read its scores");
  if (!can_fuse(f, forward.members()) || (trained && !can_fuse(f, gradient.members)))
    return count.decline("something stands between its nodes");
  const NodeId back = trained ? fuse_gradient(f, forward, gradient) : -1;
  if (!closed(f, forward, {})) return count.decline("others ask the shape of its scores");
  const FusedNode fused = fuse(f, forward.members(), Kind::kAttention);
  describe(f, fused, forward);
  if (trained) connect(f, fused.id, back);
  count.take();
}

}  // namespace

void fuse_attention(Function& f, Program&, FusionCount& count) {
  for (const NodeId id : f.order())
    if (!f[id].removed && f[id].kind == Kind::kSoftmax) fuse_both(f, id, count);
  f.compact();
}

}  // namespace npu::graph
