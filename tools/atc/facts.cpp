// SPDX-License-Identifier: Apache-2.0
#include "tools/atc/facts.h"

#include <fmt/format.h>

#include "base/dtype.h"
#include "base/json.h"

namespace npu::atc {
namespace {

std::string port_line(const char* side, const Json& port) {
  const auto dtype = static_cast<DType>(port.at("dtype").get<int>());
  std::string line = fmt::format("  {:<8} {} {} {}", side, port.at("name").get<std::string>(), name_of(dtype),
                                 port.at("shape").dump());
  if (port.contains("range")) line += " within " + port.at("range").dump();
  if (port.contains("aipp")) line += " with AIPP";
  return line + "\n";
}

std::string gear_lines(const Json& facts) {
  std::string out;
  for (const Json& gear : facts.at("gears"))
    out += fmt::format("  gear     {} of {}: outputs {}\n", gear.at("values").dump(),
                       facts.at("gear_kind").get<std::string>(), gear.at("outputs").dump());
  return out;
}

}  // namespace

std::string lines_of_facts(const std::string& json) {
  const Json facts = Json::parse(json);
  std::string out = fmt::format("model {}\n", facts.at("name").get<std::string>());
  for (const auto& [name, value] : facts.at("facts").items())
    out += fmt::format("  {:<10}{}\n", name, value.get<std::string>());
  for (const Json& port : facts.at("inputs")) out += port_line("input", port);
  for (const Json& port : facts.at("outputs")) out += port_line("output", port);
  out += gear_lines(facts);
  for (const Json& option : facts.at("precision"))
    out += fmt::format("  {} {}\n", option.at(0).get<std::string>(),
                       option.at(1).get<std::string>().substr(0, option.at(1).get<std::string>().find('\n')));
  out += fmt::format("  memory   {} bytes of work, {} bytes of weights\n", facts.at("work_bytes").get<int64_t>(),
                     facts.at("weight_bytes").get<int64_t>());
  out += fmt::format("  nodes    {} before the passes, {} after them\n", facts.at("nodes").at("before").get<size_t>(),
                     facts.at("nodes").at("after").get<size_t>());
  for (const auto& [section, bytes] : facts.at("sections").items())
    out += fmt::format("  section  {}: {} bytes\n", section, bytes.get<size_t>());
  return out;
}

}  // namespace npu::atc
