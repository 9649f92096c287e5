// SPDX-License-Identifier: Apache-2.0
// The program anynpu-profile, behind the command anynpu profile.
#pragma once

#include <string>
#include <vector>

namespace npu::profile {

/// show FOLDER… [--html FILE], diff A B. The exit code: 0, 1 for what could not be done, 2 for arguments that are not
/// understood.
int report(const std::vector<std::string>& arguments);

}  // namespace npu::profile
