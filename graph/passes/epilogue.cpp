// SPDX-License-Identifier: Apache-2.0
// What element-wise nodes make of a product's result, biases, activations, sums with other products or residuals and
// their gradients, happens while the result is written. Runs when element-wise nodes are put together already.
#include <algorithm>
#include <set>

#include "graph/ir/fused_kind.h"
#include "graph/passes/fuse.h"
#include "graph/passes/pass.h"

namespace npu::graph {
namespace {

using Names = std::set<std::string_view>;

const Names kMatrices = {"MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum"};
const Names kConvolutions = {"Conv2D",
                             "Conv3D",
                             "DepthwiseConv2dNative",
                             "Conv2DBackpropInput",
                             "Conv3DBackpropInputV2",
                             "DepthwiseConv2dNativeBackpropInput"};
/// The same elements in the same order.
const Names kViews = {"Reshape", "ExpandDims", "Squeeze", "Identity"};

bool is_chain(const Function& f, const Node& node) {
  return !node.removed && (node.op == kind::kElementwise || is_elementwise(f, node));
}

class Epilogues {
 public:
  Epilogues(Function& f, const Names& products, FusionCount& count)
      : f_(f), products_(products), count_(count), groups_(f), place_(f.nodes.size()) {
    const std::vector<NodeId> order = f.order();
    for (size_t i = 0; i < order.size(); ++i) place_[static_cast<size_t>(order[i])] = i;
    for (const NodeId id : order)
      if (is_chain(f, f[id])) look_at(id);
  }

  void run() {
    // On its own a sum of many is several steps; as a chain it is one.
    for (const NodeId id : chains_)
      if (f_[id].op == "AddN") fuse(f_, {id}, kind::kElementwise);
    for (const NodeId product : taken_)
      fuse(f_, groups_.members(groups_.of(product)), kind::kProduct, {}, Stands::kFirst);
    f_.compact();
  }

 private:
  /// The product behind an input of a chain, at the end of the views between.
  std::vector<NodeId> path_to_product(Edge edge) const {
    std::vector<NodeId> path{edge.node};
    while (kViews.contains(f_[path.back()].op)) path.push_back(f_[path.back()].inputs.front().node);
    const Node& product = f_[path.back()];
    const bool fits = products_.contains(product.op) && !product.parts && is_floating(product.outputs[0].type.dtype);
    return fits ? path : std::vector<NodeId>{};
  }

  /// Of several products whose results meet in a chain the last one takes it up: the others are there by then.
  void look_at(NodeId chain) {
    std::vector<std::vector<NodeId>> paths;
    for (const Edge& edge : f_[chain].inputs)
      if (auto path = path_to_product(edge); !path.empty()) paths.push_back(std::move(path));
    if (paths.empty()) return;
    const auto place = [&](const std::vector<NodeId>& path) { return place_[static_cast<size_t>(path.back())]; };
    std::sort(paths.begin(), paths.end(), [&](const auto& a, const auto& b) { return place(a) > place(b); });
    for (const std::vector<NodeId>& path : paths) {
      if (taken_.contains(path.back())) continue;
      std::vector<size_t> whole{groups_.of(chain)};
      for (const NodeId id : path) whole.push_back(groups_.of(id));
      if (!groups_.can_join(whole)) continue;
      groups_.join(whole);
      taken_.insert(path.back());
      chains_.push_back(chain);
      return count_.take();
    }
    count_.decline("the result is used elsewhere before");
  }

  Function& f_;
  const Names& products_;
  FusionCount& count_;
  Groups groups_;
  std::vector<size_t> place_;   ///< in the order of computation
  std::set<NodeId> taken_;      ///< products
  std::vector<NodeId> chains_;  ///< what follows them
};

}  // namespace

void fuse_matmul_epilogues(Function& f, Program&, FusionCount& count) { Epilogues(f, kMatrices, count).run(); }

void fuse_conv_epilogues(Function& f, Program&, FusionCount& count) { Epilogues(f, kConvolutions, count).run(); }

}  // namespace npu::graph
