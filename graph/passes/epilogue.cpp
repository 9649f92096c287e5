// SPDX-License-Identifier: Apache-2.0
// What element-wise nodes make of a product's result, biases, activations, sums with other products or residuals and
// their gradients, happens while the result is written. Runs when element-wise nodes are put together already.
#include <algorithm>
#include <set>

#include "graph/passes/pattern/fuse.h"
#include "graph/passes/pipeline.h"

namespace npu::graph {
namespace {

bool is_chain(const Function& f, const Node& node) {
  return !node.removed && (node.kind == Kind::kElementwise || is_elementwise(f, node));
}

class Epilogues {
 public:
  /// `fits` tells which kinds of node the elements may come from.
  Epilogues(Function& f, bool (*fits)(Kind), FusionCount& count)
      : f_(f), fits_(fits), count_(count), groups_(f), place_(f.nodes.size()) {
    const std::vector<NodeId> order = f.order();
    for (size_t i = 0; i < order.size(); ++i) place_[static_cast<size_t>(order[i])] = i;
    for (const NodeId id : order)
      if (is_chain(f, f[id])) look_at(id);
  }

  void run() {
    // On its own a sum of many is several steps; as a chain it is one.
    for (const NodeId id : chains_)
      if (f_[id].kind == Kind::kAddList) fuse(f_, {id}, Kind::kElementwise);
    for (const NodeId product : taken_)
      fuse(f_, groups_.members(groups_.of(product)), Kind::kFusedProduct, {}, Stands::kFirst);
    f_.compact();
  }

 private:
  /// The product behind an input of a chain, at the end of the views between.
  std::vector<NodeId> path_to_product(Edge edge) const {
    std::vector<NodeId> path{edge.node};
    while (is_view(f_[path.back()].kind)) path.push_back(f_[path.back()].inputs.front().node);
    const Node& product = f_[path.back()];
    const bool fits = fits_(product.kind) && !product.parts && is_floating(product.outputs[0].type.dtype);
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
  bool (*const fits_)(Kind);
  FusionCount& count_;
  Groups groups_;
  std::vector<size_t> place_;   ///< in the order of computation
  std::set<NodeId> taken_;      ///< products
  std::vector<NodeId> chains_;  ///< what follows them
};

}  // namespace

void fuse_matmul_epilogues(Function& f, Program&, FusionCount& count) { Epilogues(f, is_product, count).run(); }

void fuse_conv_epilogues(Function& f, Program&, FusionCount& count) { Epilogues(f, is_convolution, count).run(); }

}  // namespace npu::graph
