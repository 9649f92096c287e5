// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace npu::graph {

/// An attribute of assignments that validate shapes: the one their variable was declared with, for the first of them.
inline constexpr std::string_view kDeclaredShape = "_declared_shape";

}  // namespace npu::graph
