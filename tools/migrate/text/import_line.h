// SPDX-License-Identifier: Apache-2.0
// A line that imports.
#pragma once

#include <string>
#include <string_view>

namespace npu::migrate {

/// What an import line binds, and to what: "import a.b as c" gives c and "a.b", "from m import n" gives n and "m.n".
struct ImportLine {
  std::string bound, dotted;
};

ImportLine parsed_import(std::string_view line);

}  // namespace npu::migrate
