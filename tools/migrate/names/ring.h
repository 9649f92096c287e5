// SPDX-License-Identifier: Apache-2.0
// Which modules import each other in a ring.
#pragma once

#include <cstddef>
#include <vector>

namespace npu::migrate {

/// `imports[i]` lists what module i imports. Each ring holds modules that reach each other (strongly connected; most
/// hold one), and stands behind those its modules import.
std::vector<std::vector<size_t>> rings(const std::vector<std::vector<size_t>>& imports);

}  // namespace npu::migrate
