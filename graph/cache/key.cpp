// SPDX-License-Identifier: Apache-2.0
#include "graph/cache/key.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "comm/core/gradient_split.h"
#include "device/process/soc.h"
#include "graph/ir/control_flow.h"
#include "graph/model/function_file.h"
#include "ops/cube/cpu_class.h"

namespace npu::graph::cache {
namespace {

using Reached = std::map<std::string, std::shared_ptr<Function>, std::less<>>;

void reach(const Function& function, const Program& program, Reached& reached) {
  for (const Node& node : function.nodes) {
    if (node.removed) continue;
    for (const FunctionName& called : called_functions(node)) {
      const auto at = program.functions.find(called.name);
      if (at != program.functions.end() && reached.emplace(called.name, at->second).second)
        reach(*at->second, program, reached);
    }
    if (node.parts) reach(*node.parts, program, reached);
  }
}

}  // namespace

std::vector<std::shared_ptr<Function>> reached_from(const Function& function, const Program& program) {
  Reached reached;
  reach(function, program, reached);
  reached.erase(function.name);
  std::vector<std::shared_ptr<Function>> out;
  for (const auto& [name, one] : reached) out.push_back(one);
  return out;
}

std::string cpu() { return ops::cube::name_of(ops::cube::cpu_class()); }

Key key_of(const Function& function, const Program& program, const PassOptions& options) {
  std::vector<std::string> skipped = options.skip;
  std::sort(skipped.begin(), skipped.end());
  skipped.erase(std::unique(skipped.begin(), skipped.end()), skipped.end());
  std::string text =
      fmt::format("compiled function 1\nbuild: {}\nsoc: {}\ncpu: {}\n", build(), device::soc().name, cpu());
  text += fmt::format("passes left out: {}\nprecision: {}\n", fmt::join(skipped, " "),
                      model::digest_of(options.precision.said()).text());
  text += fmt::format("collectives: {}\n", comm::said_of_splits());
  text += fmt::format("function {}: {}\n", function.name, model::digest_of(function).text());
  for (const auto& one : reached_from(function, program))
    text += fmt::format("function {}: {}\n", one->name, model::digest_of(*one).text());
  return {std::move(text)};
}

}  // namespace npu::graph::cache
