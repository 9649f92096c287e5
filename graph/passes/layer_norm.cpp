// SPDX-License-Identifier: Apache-2.0
// Keras writes layer normalisation as a batch normalisation of one sample whose channels are the rows:
//
//   Reshape(x, [1, rows, length, 1]) -> FusedBatchNormV3 (NCHW, scale 1, offset 0) -> Reshape -> Mul gamma -> AddV2
//   beta
//
// and the gradient is what follows from that. Each becomes one node. The gradient's takes the statistics from x again,
// so nothing is kept for it but x.
#include "graph/passes/pattern/fuse.h"
#include "graph/passes/pattern/match.h"
#include "graph/passes/pipeline.h"

namespace npu::graph {
namespace {

bool keeps_rows_as_channels(const Node& node) {
  return node.attributes.get_or<std::string>("data_format", "NHWC") == "NCHW" &&
         node.attributes.get_or<bool>("is_training", true);
}

bool normalises_rows(const Function& f, NodeId id) {
  const Node& node = f[id];
  if (node.kind != Kind::kBatchNorm) return false;
  return keeps_rows_as_channels(node) && producer(f, node.inputs[0], Kind::kReshape) >= 0 &&
         is_filled_with(f, node.inputs[1], 1) && is_filled_with(f, node.inputs[2], 0);
}

bool is_gradient(const Node& node) { return node.kind == Kind::kBatchNormGrad && keeps_rows_as_channels(node); }

std::vector<NodeId> present(std::initializer_list<NodeId> ids) {
  std::vector<NodeId> out;
  for (const NodeId id : ids)
    if (id >= 0) out.push_back(id);
  return out;
}

// ---- forward

struct Forward {
  NodeId squeeze = -1, norm = -1, restore = -1, scale = -1, shift = -1;
  Edge gamma = {}, beta = {};
};

/// Fills in the forward of `norm`; gives why it is left, or an empty text.
std::string find(const Function& f, NodeId norm, Forward& out) {
  const Readers readers(f);
  out.norm = norm, out.squeeze = f[norm].inputs[0].node;
  out.restore = readers.only({norm, 0});
  if (out.restore < 0 || producer(f, {out.restore, 0}, Kind::kReshape) < 0) return "its rows are no tensor again";
  if (readers.only({out.squeeze, 0}) != norm) return "the rows are used elsewhere";
  for (int32_t i = 1; i < static_cast<int32_t>(f[norm].outputs.size()); ++i)
    if (!readers.none({norm, i})) return "its statistics are used elsewhere";
  Edge last{out.restore, 0};
  out.scale = followed_by(f, readers, last, Kind::kMultiply, out.gamma);
  if (out.scale >= 0) last = {out.scale, 0};
  out.shift = followed_by(f, readers, last, Kind::kAdd, out.beta);
  return can_fuse(f, present({out.squeeze, norm, out.restore, out.scale, out.shift}))
             ? ""
             : "something stands between its nodes";
}

void fuse_forward(Function& f, NodeId norm, FusionCount& count) {
  Forward found;
  if (const std::string why = find(f, norm, found); !why.empty()) return count.decline(why);
  const Edge x = f[found.squeeze].inputs[0], rows = f[found.squeeze].inputs[1], shape = f[found.restore].inputs[1];
  const double epsilon = f[norm].attributes.get_or<double>("epsilon", 1e-4);
  const std::vector<NodeId> members = present({found.squeeze, norm, found.restore, found.scale, found.shift});
  const FusedNode fused = fuse(f, members, Kind::kLayerNorm);
  set_input_roles(f, fused, {{"x", x}, {"rows", rows}, {"shape", shape}, {"gamma", found.gamma}, {"beta", found.beta}});
  f[fused.id].attributes.set("epsilon", epsilon);
  count.take();
}

// ---- gradient

struct Gradient {
  NodeId norm = -1, squeeze = -1, restore = -1, gradient = -1, rows = -1;  ///< rows: the Reshape of what comes in
  NodeId scale = -1, product = -1, gamma_sum = -1, beta_sum = -1;
  Edge dy = {}, gamma = {};
};

/// The Reshape that gives the rows the shape of x again; besides it only shapes of them may be read.
NodeId restored_by(const Function& f, const Readers& readers, NodeId norm) {
  NodeId found = -1;
  for (const NodeId reader : readers.of({norm, 0})) {
    if (reader >= 0 && f[reader].kind == Kind::kShape) continue;
    if (found >= 0 || reader < 0 || producer(f, {reader, 0}, Kind::kReshape) < 0) return -1;
    found = reader;
  }
  return found;
}

/// A Sum over `edge` along constant axes: those of `as`, where there is one.
NodeId summed_by(const Function& f, const Readers& readers, Edge edge, NodeId as = -1) {
  for (const NodeId reader : readers.of(edge)) {
    if (reader < 0 || f[reader].kind != Kind::kSum || f[reader].inputs[0] != edge) continue;
    const Literal* axes = constant_at(f, f[reader].inputs[1]);
    if (axes != nullptr && (as < 0 || *constant_at(f, f[as].inputs[1]) == *axes)) return reader;
  }
  return -1;
}

/// What comes in before it is multiplied with a parameter, if the rows are multiplied with the same one.
void find_scale(const Function& f, const Readers& readers, Gradient& out) {
  out.dy = f[out.rows].inputs[0];
  const NodeId mul = producer(f, out.dy, Kind::kMultiply);
  if (mul < 0 || readers.only(out.dy) != out.rows) return;
  const Edge unit{out.restore, 0};
  for (const NodeId reader : readers.of(unit)) {
    if (reader < 0 || f[reader].kind != Kind::kMultiply) continue;
    const Edge gamma = other_input(f[reader], unit), dy = other_input(f[mul], gamma);
    if (gamma.node < 0 || dy.node < 0 || !is_parameter(f, gamma)) continue;
    out.scale = mul, out.gamma = gamma, out.dy = dy;
    return;
  }
}

/// The sums over all rows: gradients of gamma and beta.
void find_sums(const Function& f, const Readers& readers, Gradient& out) {
  for (const NodeId reader : readers.of({out.restore, 0})) {
    if (out.scale < 0 || reader < 0 || f[reader].kind != Kind::kMultiply ||
        other_input(f[reader], {out.restore, 0}) != out.dy)
      continue;
    const NodeId sum = readers.only({reader, 0});
    if (sum >= 0 && summed_by(f, readers, {reader, 0}) == sum) out.product = reader, out.gamma_sum = sum;
  }
  out.beta_sum = summed_by(f, readers, out.dy, out.gamma_sum);
}

std::vector<NodeId> members_of(const Gradient& g) {
  return present({g.rows, g.gradient, g.scale, g.product, g.gamma_sum, g.beta_sum});
}

std::string find(const Function& f, NodeId gradient, Gradient& out) {
  const Readers readers(f);
  const Node& node = f[gradient];
  out.gradient = gradient, out.norm = node.inputs[3].node;
  const bool paired = normalises_rows(f, out.norm) && node.inputs[1] == f[out.norm].inputs[0] &&
                      node.inputs[3] == Edge{out.norm, 3} && node.inputs[4] == Edge{out.norm, 4} &&
                      is_filled_with(f, node.inputs[2], 1);
  if (!paired) return "its forward is not in the function";
  out.squeeze = node.inputs[1].node;
  out.restore = restored_by(f, readers, out.norm);
  out.rows = producer(f, node.inputs[0], Kind::kReshape);
  if (out.restore < 0 || out.rows < 0 || readers.only({out.rows, 0}) != gradient) return "its rows are used elsewhere";
  if (!readers.none({gradient, 1}) || !readers.none({gradient, 2})) return "its rows have scales of their own";
  find_scale(f, readers, out);
  find_sums(f, readers, out);
  return can_fuse(f, members_of(out)) ? "" : "something stands between its nodes";
}

void fuse_gradient(Function& f, NodeId gradient, FusionCount& count) {
  Gradient g;
  if (const std::string why = find(f, gradient, g); !why.empty()) return count.decline(why);
  const Edge x = f[g.squeeze].inputs[0], rows = f[g.squeeze].inputs[1];
  const double epsilon = f[gradient].attributes.get_or<double>("epsilon", 1e-4);
  const NodeId sum = g.gamma_sum >= 0 ? g.gamma_sum : g.beta_sum;
  const Edge axes = sum >= 0 ? f[sum].inputs[1] : Edge{};
  const auto keeps = [&](NodeId id) { return id >= 0 && f[id].attributes.get_or<bool>("keep_dims", false); };
  const bool gamma_keeps = keeps(g.gamma_sum), beta_keeps = keeps(g.beta_sum);
  std::vector<NodeId> again = present({g.squeeze, g.norm, g.product >= 0 ? g.restore : -1});
  if (const NodeId shape = producer(f, f[g.rows].inputs[1], Kind::kShape);
      shape >= 0 && f[shape].inputs[0].node == g.norm)
    again.push_back(shape);
  const FusedNode fused = fuse(f, members_of(g), Kind::kLayerNormGrad, again);
  set_input_roles(f, fused, {{"x", x}, {"rows", rows}, {"dy", g.dy}, {"gamma", g.gamma}, {"axes", axes}});
  set_output_roles(f, fused, {{"dx", {gradient, 0}}, {"dgamma", {g.gamma_sum, 0}}, {"dbeta", {g.beta_sum, 0}}});
  Attributes& attributes = f[fused.id].attributes;
  attributes.set("epsilon", epsilon);
  attributes.set("dgamma_keeps", gamma_keeps), attributes.set("dbeta_keeps", beta_keeps);
  count.take();
}

}  // namespace

void fuse_layer_norm(Function& f, Program& program, FusionCount& count) {
  for (const NodeId id : f.order())
    if (is_gradient(f[id]) && producer(f, f[id].inputs[1], Kind::kReshape) >= 0) fuse_gradient(f, id, count);
  drop_dead_nodes(f, program);  // shapes that only the gradients read
  for (const NodeId id : f.order())
    if (normalises_rows(f, id)) fuse_forward(f, id, count);
  f.compact();
}

}  // namespace npu::graph
