// SPDX-License-Identifier: Apache-2.0
// Variables become constants: their handles, wherever functions pass them on, become the values, and reads of them
// identities.
#pragma once

#include <functional>
#include <string>

#include "graph/ir/function.h"

namespace npu::graph::tensorflow {

/// The value of the variable that a node of the model's function makes; raises an Error where it has none.
using ValueOfVariable = std::function<Literal(const std::string& node)>;

/// Rewrites `f` and what it calls. Raises 161002 naming node and variable where one is written, 207000 where a handle
/// goes to what is not known to read it.
void freeze(Function& f, Program& program, const ValueOfVariable& value_of);

}  // namespace npu::graph::tensorflow
