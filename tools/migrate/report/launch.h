// SPDX-License-Identifier: Apache-2.0
// The shell script that starts a migrated script on several NPUs.
#pragma once

#include <string>

namespace npu::migrate {

/// run_distributed_npu.sh for the entry file `main` (below the script's folder): one process for each NPU, a log for
/// each, waits for all of them, ends the others where one fails, and gives its exit code.
std::string launch_script(const std::string& main);

}  // namespace npu::migrate
