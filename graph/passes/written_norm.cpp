// SPDX-License-Identifier: Apache-2.0
// Exporters for ONNX before opset 17 write layer normalisation as what it consists of:
//
//   m = Mean(x); d = x - m; v = Mean(d ^ 2); d / Sqrt(v + epsilon) * gamma + beta
//
// The means go over the same axes and keep them; d ^ 2 may be Square(d) or d * d. It becomes one node.
#include "graph/passes/pattern/fuse.h"
#include "graph/passes/pattern/match.h"
#include "graph/passes/pipeline.h"

namespace npu::graph {
namespace {

struct Written {
  NodeId mean = -1, centred = -1, square = -1, variance = -1, shifted = -1, root = -1, divided = -1;
  NodeId scale = -1, shift = -1;
  Edge x = {}, axes = {}, gamma = {}, beta = {};
  double epsilon = 0;
};

/// A mean along constant axes that keeps them.
bool keeps_axes(const Function& f, NodeId mean) {
  return mean >= 0 && f[mean].attributes.get_or<bool>("keep_dims", false) &&
         constant_at(f, f[mean].inputs[1]) != nullptr;
}

bool same_axes(const Function& f, NodeId a, NodeId b) {
  return *constant_at(f, f[a].inputs[1]) == *constant_at(f, f[b].inputs[1]);
}

/// The node that squares `edge`, if that is what brings `from`.
NodeId square_of(const Function& f, Edge from, Edge edge) {
  if (const NodeId product = producer(f, from, Kind::kMultiply); product >= 0)
    return f[product].inputs[0] == edge && f[product].inputs[1] == edge ? product : -1;
  if (const NodeId square = producer(f, from, Kind::kSquare); square >= 0)
    return f[square].inputs[0] == edge ? square : -1;
  const NodeId power = producer(f, from, Kind::kPower);
  if (power < 0 || f[power].inputs[0] != edge) return -1;
  Edge exponent = f[power].inputs[1];
  if (const NodeId cast = producer(f, exponent, Kind::kCast); cast >= 0) exponent = f[cast].inputs[0];
  return number_at(f, exponent) == 2.0 ? power : -1;
}

/// Of v + epsilon, in either order.
bool find_epsilon(const Function& f, Written& out) {
  const Node& add = f[out.shifted];
  for (const size_t i : {0, 1}) {
    const auto number = number_at(f, add.inputs[1 - i]);
    out.variance = producer(f, add.inputs[i], Kind::kMean);
    if (!number || out.variance < 0) continue;
    out.epsilon = *number;
    return true;
  }
  return false;
}

/// Fills in the nodes before the division; false where it divides something else.
bool find_parts(const Function& f, NodeId divided, Written& out) {
  out.divided = divided;
  const Edge d = f[divided].inputs[0];
  out.centred = producer(f, d, Kind::kSubtract), out.root = producer(f, f[divided].inputs[1], Kind::kRoot);
  if (out.centred < 0 || out.root < 0) return false;
  out.shifted = producer(f, f[out.root].inputs[0], Kind::kAdd);
  if (out.shifted < 0 || !find_epsilon(f, out) || !keeps_axes(f, out.variance)) return false;
  out.square = square_of(f, f[out.variance].inputs[0], d);
  out.x = f[out.centred].inputs[0];
  out.mean = producer(f, f[out.centred].inputs[1], Kind::kMean);
  if (out.square < 0 || !keeps_axes(f, out.mean) || f[out.mean].inputs[0] != out.x) return false;
  out.axes = f[out.mean].inputs[1];
  return same_axes(f, out.mean, out.variance);
}

std::vector<NodeId> members_of(const Written& w) {
  std::vector<NodeId> out{w.mean, w.centred, w.square, w.variance, w.shifted, w.root, w.divided};
  for (const NodeId id : {w.scale, w.shift})
    if (id >= 0) out.push_back(id);
  return out;
}

/// Whether nobody else reads what stands between.
bool is_closed(const Function& f, const Readers& readers, const Written& w) {
  const bool chain = readers.only({w.mean, 0}) == w.centred && readers.only({w.square, 0}) == w.variance &&
                     readers.only({w.variance, 0}) == w.shifted && readers.only({w.shifted, 0}) == w.root &&
                     readers.only({w.root, 0}) == w.divided;
  const size_t twice = f[w.square].kind == Kind::kMultiply ? 2 : 1;  // how often the square reads its operand
  return chain && readers.of({w.centred, 0}).size() == twice + 1;
}

void fuse_one(Function& f, NodeId divided, FusionCount& count) {
  Written w;
  if (!find_parts(f, divided, w)) return;
  const Readers readers(f);
  if (!is_closed(f, readers, w)) return count.decline("its parts are used elsewhere");
  Edge last{divided, 0};
  w.scale = followed_by(f, readers, last, Kind::kMultiply, w.gamma);
  if (w.scale >= 0) last = {w.scale, 0};
  w.shift = followed_by(f, readers, last, Kind::kAdd, w.beta);
  if (!can_fuse(f, members_of(w))) return count.decline("something stands between its nodes");
  const FusedNode fused = fuse(f, members_of(w), Kind::kLayerNorm);
  set_input_roles(f, fused, {{"x", w.x}, {"axes", w.axes}, {"gamma", w.gamma}, {"beta", w.beta}});
  f[fused.id].attributes.set("epsilon", w.epsilon);
  count.take();
}

}  // namespace

void fuse_written_layer_norm(Function& f, Program&, FusionCount& count) {
  for (const NodeId id : f.order())
    if (!f[id].removed && f[id].kind == Kind::kDivide && is_floating(f[id].outputs[0].type.dtype))
      fuse_one(f, id, count);
  f.compact();
}

}  // namespace npu::graph
