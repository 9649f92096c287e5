// SPDX-License-Identifier: Apache-2.0
// Lines of comma-separated values, as Python's csv module writes and reads them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace npu::compare {

using Cells = std::vector<std::string>;

/// With its end (CR LF).
std::string csv_line(const Cells& cells);

/// The files that a command leaves. Raises a Refusal where one cannot be written.
void write_file(const std::string& path, std::string_view text);
/// "20260102030405": now, as names of results have it.
std::string time_stamp();

}  // namespace npu::compare
