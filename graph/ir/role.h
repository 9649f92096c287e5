// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace npu::graph {

/// Who asked for a function to be compiled.
enum class Role : uint8_t {
  kRoot,      ///< the client
  kBody,      ///< a node of another function: a loop's body, a branch
  kOperator,  ///< nobody: it is one operator of the client's, wrapped
};

}  // namespace npu::graph
