// SPDX-License-Identifier: Apache-2.0
// Texts of records as parts of a page: users choose some of them.
#pragma once

#include <string>
#include <string_view>

namespace npu::profile {

/// As text or as an attribute between double quotes.
std::string escaped(std::string_view text);
/// JSON inside of a script element, which ends at the first "</script".
std::string inside_script(std::string json);

}  // namespace npu::profile
