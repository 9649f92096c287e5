// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/text/import_line.h"

#include <algorithm>

namespace npu::migrate {

ImportLine parsed_import(std::string_view line) {
  const auto word = [&line] {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const std::string out(line.substr(0, line.find(' ')));
    line.remove_prefix(out.size());
    return out;
  };
  const bool from = word() == "from";
  ImportLine out;
  out.dotted = word();
  if (from) {
    word();  // import
    out.bound = word();
    out.dotted += "." + out.bound;
  } else {
    out.bound = out.dotted.substr(0, out.dotted.find('.'));
  }
  if (word() == "as")
    out.bound = word();
  else if (!from)
    out.dotted = out.bound;
  if (out.bound == "*") out.bound = "";
  return out;
}

}  // namespace npu::migrate
