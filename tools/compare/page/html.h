// SPDX-License-Identifier: Apache-2.0
// Words and colours of the page.
#pragma once

#include <string>
#include <string_view>

#include "tools/compare/page/account.h"

namespace npu::compare {

std::string escaped(std::string_view text);
/// The output that is furthest off; null where none was compared.
const Deviation* worst_of(const Finding& finding);
/// Green where nothing is off, over yellow, to red where nothing is left of the value; grey where nothing is known.
std::string colour(const Deviation* deviation);
/// The operators around the first one that is to blame, who reads from whom, as SVG; "" where nobody is.
std::string drawing_of(const Account& account);

}  // namespace npu::compare
