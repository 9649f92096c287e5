// SPDX-License-Identifier: Apache-2.0
// The command msprof.
#pragma once

#include <string>
#include <vector>

namespace npu::profile {

/// The exit code: 0, 1 for what could not be done, 2 for options that are not understood.
int dispatch(const std::vector<std::string>& arguments);

}  // namespace npu::profile
