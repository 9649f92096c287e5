// SPDX-License-Identifier: Apache-2.0
// The operators of nodes that fusion passes make. What such a node computes is in Node::parts.
#pragma once

#include <string_view>

namespace npu::graph::kind {

/// Element-wise nodes in one pass over their elements.
inline constexpr std::string_view kElementwise = "_FusedElementwise";
/// The same with updates of variables in place: the step of an optimizer on all its variables.
inline constexpr std::string_view kVariableUpdate = "_FusedVariableUpdate";

}  // namespace npu::graph::kind
