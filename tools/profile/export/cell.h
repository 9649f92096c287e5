// SPDX-License-Identifier: Apache-2.0
// Texts as tables hold them.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace npu::profile {

/// Shapes, types and formats of a record's text. Shapes have quotes of their own, which the vendor's analysers cut off.
std::array<std::string, 3> parts_of(std::string_view text);
/// "a,b" as a cell, with quotes where it needs them.
std::string cell(std::string_view text);

}  // namespace npu::profile
