// SPDX-License-Identifier: Apache-2.0
// What changed before opset 7 (ONNX's own list of versions, docs/Changelog.md there): opset 6 dropped
// `consumed_inputs`, a hint to allocators, which is ignored; opset 7 replaced `broadcast` and `axis` by NumPy's rule
// and dropped `is_test`. Operators that opset 7 has unchanged are read as they are.
#include "graph/import/onnx/upgrade.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <string_view>

#include "base/error.h"

namespace npu::graph::onnx {
namespace {

/// Operators whose inputs or attributes were others before an opset.
struct Change {
  std::string_view op;
  int64_t opset;
};
constexpr Change kChanges[] = {{"Cast", 6}, {"Pad", 2}, {"Reshape", 5}, {"Split", 2}, {"Tile", 6}, {"Upsample", 7}};

constexpr std::string_view kBroadcasting[] = {"Add", "And", "Div", "Equal", "Greater", "Less",
                                              "Mul", "Or",  "Pow", "Sub",   "Xor"};
/// Opset 7 took away their training: `is_test` was 0 where it was left out.
constexpr std::string_view kTraining[] = {"BatchNormalization", "Dropout"};

bool among(std::span<const std::string_view> names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

void check_changes(const NodeView& node, int64_t opset) {
  for (const Change& change : kChanges)
    require(node.op != change.op || opset >= change.opset,
            "its inputs or attributes were others before opset {}: convert the model with onnx.version_converter",
            change.opset);
}

/// Adds axes of one element behind those of input `i`, so that it ends `behind` axes before the last.
NodeView aligned(NodeView& node, size_t i, size_t rank, size_t behind) {
  std::vector<int64_t> axes(behind);
  std::iota(axes.begin(), axes.end(), static_cast<int64_t>(rank));
  NodeView out;
  out.op = "Unsqueeze", out.name = node.name + "/align";
  out.inputs = {node.inputs[i]}, out.outputs = {node.outputs.front() + "/" + node.inputs[i]};
  out.attributes.set("axes", axes);
  node.inputs[i] = out.outputs.front();
  return out;
}

size_t known_rank(const NodeView& node, size_t i, const RankOf& rank_of) {
  const auto rank = rank_of(node.inputs.at(i));
  require(rank.has_value(), "the axes of its input {} are not known, which `axis` counts: export the model in opset 13",
          i);
  return *rank;
}

/// With `axis` the second input stands at that axis of the first; without it NumPy's rule holds.
std::vector<NodeView> broadcast(NodeView node, const RankOf& rank_of) {
  const bool broadcasts = node.attributes.get_or<int64_t>("broadcast", 0) != 0;
  if (!broadcasts || !node.attributes.has("axis")) return {std::move(node)};
  require(node.inputs.size() == 2, "it has {} inputs; it needs 2", node.inputs.size());
  const auto rank = static_cast<int64_t>(known_rank(node, 0, rank_of));
  const size_t own = known_rank(node, 1, rank_of);
  int64_t axis = node.attributes.get<int64_t>("axis");
  if (axis < 0) axis += rank;
  const int64_t behind = rank - axis - static_cast<int64_t>(own);
  require(axis >= 0 && behind >= 0, "axis is {}; {} axes do not stand there among {}", axis, own, rank);
  if (behind == 0) return {std::move(node)};
  NodeView first = aligned(node, 1, own, static_cast<size_t>(behind));
  return {std::move(first), std::move(node)};
}

/// One slope for each channel stood alone before opset 7.
std::vector<NodeView> sloped(NodeView node, const RankOf& rank_of) {
  require(node.inputs.size() == 2, "it has {} inputs; it needs 2", node.inputs.size());
  const size_t rank = known_rank(node, 0, rank_of), own = known_rank(node, 1, rank_of);
  if (own != 1 || rank <= 2) return {std::move(node)};
  NodeView first = aligned(node, 1, own, rank - 2);
  return {std::move(first), std::move(node)};
}

}  // namespace

std::vector<NodeView> as_in_opset_7(NodeView node, int64_t opset, const RankOf& rank_of) {
  if (!node.domain.empty() || opset >= kOldestRuledOpset || opset == 0) return {std::move(node)};
  check_changes(node, opset);
  if (among(kTraining, node.op))
    require(node.attributes.get_or<int64_t>("is_test", 0) != 0,
            "before opset 7 it trains unless is_test is 1: set it, or export the model in opset 13");
  if (node.op == "Concat" && opset < 4 && !node.attributes.has("axis")) node.attributes.set("axis", int64_t{1});
  if (among(kBroadcasting, node.op)) return broadcast(std::move(node), rank_of);
  if (node.op == "PRelu") return sloped(std::move(node), rank_of);
  return {std::move(node)};
}

}  // namespace npu::graph::onnx
