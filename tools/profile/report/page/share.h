// SPDX-License-Identifier: Apache-2.0
// Shares as pages show them.
#pragma once

#include <string>

namespace npu::profile {

/// "12.3 %".
std::string percent(double share);

}  // namespace npu::profile
