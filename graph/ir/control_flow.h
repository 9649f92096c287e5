// SPDX-License-Identifier: Apache-2.0
// The kinds of node whose body is a function of the program, told apart in one place.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/ir/function.h"

namespace npu::graph {

/// A node that runs functions in its place.
struct Call {
  Kind kind;                        ///< kCall, kWhile, kIf or kCase
  std::vector<std::string> bodies;  ///< the function called; the body; then and else; the branches
  std::string condition;            ///< of a kWhile
  size_t selector_inputs = 0;       ///< inputs before those passed on: the predicate of kIf, the index of kCase
};

/// Null when `node` runs no function itself (a data set that maps one does not). Raises 161002 when the attribute that
/// names the function is missing.
std::optional<Call> as_call(const Node& node);

}  // namespace npu::graph
