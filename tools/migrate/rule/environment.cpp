// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/rule/environment.h"

#include <algorithm>
#include <sstream>
#include <vector>

#include "tools/migrate/names/known.h"
#include "tools/migrate/text/built_in.h"

namespace npu::migrate {
namespace {

std::vector<EnvironmentVariable> read() {
  std::vector<EnvironmentVariable> out;
  std::istringstream table{std::string(built_in("environment.tsv"))};
  for (std::string line; std::getline(table, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream fields(line);
    EnvironmentVariable& made = out.emplace_back();
    for (std::string* field : {&made.name, &made.becomes, &made.told}) std::getline(fields, *field, '\t');
  }
  return out;
}

}  // namespace

const EnvironmentVariable* environment_variable(std::string_view name) {
  static const std::vector<EnvironmentVariable> all = read();
  const auto found = std::ranges::find_if(all, [&](const auto& each) { return matches(each.name, name); });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace npu::migrate
