// SPDX-License-Identifier: Apache-2.0
// msprof as the one who collects: starts a program, or speaks with one that runs.
#pragma once

#include <filesystem>
#include <istream>
#include <string>
#include <vector>

namespace npu::profile {

struct CollectRequest {
  std::vector<std::string> command;  ///< empty: `process` runs already
  int process = 0;
  std::filesystem::path output;  ///< made where it is missing
  std::string options;           ///< of PROFILING_OPTIONS, a JSON object without `output`
  bool dynamic = false;          ///< begins and ends as `input` says: lines start, stop, quit
  int delay = 0, duration = 0;   ///< seconds from the program's start, and from the collection's; 0: none
};

struct Collected {
  int code = 0;  ///< the program's, as a shell tells it
  std::vector<std::filesystem::path> folders;
};

/// Until the program has ended, or for one that runs, until `quit`. Raises npu::Error for what cannot be.
Collected collect(const CollectRequest& asked, std::istream& input);

}  // namespace npu::profile
