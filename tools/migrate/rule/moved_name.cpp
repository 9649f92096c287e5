// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/rule/moved_name.h"

#include <map>
#include <sstream>

#include "tools/migrate/text/built_in.h"

namespace npu::migrate {
namespace {

using Table = std::map<std::string, MovedName, std::less<>>;

std::string module_of(const std::string& place) {
  const size_t dot = place.rfind('.');
  return dot == place.npos ? "" : place.substr(0, dot);
}

Table read() {
  Table out;
  std::istringstream lines{std::string(built_in("moved.tsv"))};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream fields(line);
    std::string name;
    MovedName made;
    for (std::string* field : {&name, &made.place, &made.import, &made.from, &made.without, &made.told})
      std::getline(fields, *field, '\t');
    if (made.import.empty()) made.import = made.place.substr(0, made.place.find('.'));
    if (made.from.empty()) made.from = module_of(made.place);
    out.emplace(std::move(name), std::move(made));
  }
  return out;
}

const Table& table() {
  static const Table made = read();
  return made;
}

}  // namespace

const MovedName* moved_name(std::string_view name) {
  const auto found = table().find(name);
  return found == table().end() ? nullptr : &found->second;
}

/// The longest module that moved as a whole, `module.*` in the table, and the rest of the name in it.
MovedName moved_place(std::string_view name) {
  if (const MovedName* own = moved_name(name)) return *own;
  for (size_t dot = name.rfind('.'); dot != name.npos && dot > 0; dot = name.rfind('.', dot - 1)) {
    const MovedName* module = moved_name(std::string(name.substr(0, dot)) + ".*");
    if (module == nullptr) continue;
    MovedName out = *module;
    out.place.replace(out.place.size() - 1, 1, name.substr(dot + 1));
    out.from = module_of(out.place);
    return out;
  }
  return {};
}

}  // namespace npu::migrate
