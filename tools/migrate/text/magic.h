// SPDX-License-Identifier: Apache-2.0
// Which lines of a notebook's cell are IPython's and no Python: %magic, !command, name?, %%cell.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace npu::migrate {

/// Of each line of a cell: what stands for it in Python, "" where it is Python itself. "#" for lines by themselves,
/// "pass #" in blocks, "x = None #" where a magic gives x its value. Nothing at all where the cell is no Python even
/// so: a bracket, or a text, stays open.
std::optional<std::vector<std::string>> stand_ins(const std::vector<std::string_view>& lines);

}  // namespace npu::migrate
