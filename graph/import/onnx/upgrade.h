// SPDX-License-Identifier: Apache-2.0
// Nodes of opsets 1 to 6 as opset 7 writes them, which is the oldest that the rules know.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "graph/import/onnx/model.h"

namespace npu::graph::onnx {

/// The oldest opset whose nodes the rules read as they are.
inline constexpr int64_t kOldestRuledOpset = 7;

/// The axes of a value by its name; none where they are not known.
using RankOf = std::function<std::optional<size_t>(const std::string&)>;

/// The nodes of opset 7 that do what `node` does in the older `opset`, in their order; mostly the node itself.
/// Raises 161002, with the cure, for an operator that meant something else and is not translated.
std::vector<NodeView> as_in_opset_7(NodeView node, int64_t opset, const RankOf& rank_of);

}  // namespace npu::graph::onnx
