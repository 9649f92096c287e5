// SPDX-License-Identifier: Apache-2.0
// The command atc: models become .om files (--mode=0), .om files and dumped graphs become JSON (1, 5), models are
// checked (3), .om files are told of (6).
#pragma once

#include <string>
#include <vector>

namespace npu::atc {

/// Tells how it went on stdout, and why not on stderr. Gives the exit code: 0, else 255 as the vendor's has it.
int run(const std::vector<std::string>& arguments);

}  // namespace npu::atc
