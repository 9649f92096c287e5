// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace npu::graph {

class Lowering;

/// Position of the input or output of a fused node that has this role; none where it is absent.
std::optional<size_t> role(const Lowering& l, std::string_view name);
/// The same where it must be there; raises 161002 otherwise: a node from a file may lack it.
size_t place_of(const Lowering& l, std::string_view name);

}  // namespace npu::graph
