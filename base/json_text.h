// SPDX-License-Identifier: Apache-2.0
// Files of JSON as people and the vendor's samples write them: with remarks, and a comma after the last member.
#pragma once

#include <string>
#include <string_view>

namespace npu {

/// `text` with blanks in place of remarks (// to the end of the line, /* … */) and of commas before a closing bracket.
/// Every other byte stays where it was, line ends too, so that a place in the result is one in `text`. Nothing inside
/// a string is touched. What is then no JSON was none before.
std::string strict_json(std::string_view text);

}  // namespace npu
