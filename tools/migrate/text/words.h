// SPDX-License-Identifier: Apache-2.0
// Pieces of Python text for reports and comparisons.
#pragma once

#include <string>
#include <string_view>

namespace npu::migrate {

/// Runs of blanks and newlines as one blank.
std::string squeezed(std::string_view text);
/// Squeezed, and cut with "…" where it is long.
std::string one_line(std::string_view text);

}  // namespace npu::migrate
