// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "tools/profile/report/finding/finding.h"

namespace npu::profile {
namespace {

/// "step" of __inference_step_59: frameworks number what they trace.
std::string function_of(std::string_view graph) {
  constexpr std::string_view kPrefix = "__inference_";
  if (graph.starts_with(kPrefix)) graph.remove_prefix(kPrefix.size());
  while (!graph.empty() && (std::isdigit(static_cast<unsigned char>(graph.back())) != 0 || graph.back() == '_'))
    graph.remove_suffix(1);
  return std::string(graph);
}

}  // namespace

std::optional<Finding> compilation_of(const Facts& facts) {
  std::set<std::string> known;
  std::vector<std::string> again;
  int64_t cost = 0;
  for (const Gap& gap : facts.idle.gaps) {
    if (gap.parts[Cause::kCompile] == 0) continue;
    const std::string function = function_of(facts.trace->text(gap.next->graph));
    if (known.insert(function).second) continue;  // once is what it takes
    again.push_back(function);
    cost += gap.parts[Cause::kCompile];
  }
  if (again.empty()) return {};
  return Finding{.title = "a function is traced and compiled anew again and again",
                 .cost = cost,
                 .where = commonest(again, 3),
                 .cure =
                     "keep shapes and types the same (drop_remainder, padding), give it an input_signature, pass "
                     "tensors in place of Python numbers, and make the tf.function once, outside of the loop"};
}

std::optional<Finding> host_node_of(const Facts& facts) {
  std::vector<std::string> places;
  for (const Gap& gap : facts.idle.gaps)
    if (gap.parts[Cause::kHostNode] > 0)
      places.push_back(fmt::format("{} before {}", function_of(facts.trace->text(gap.next->graph)),
                                   facts.trace->text(gap.next->name)));
  if (places.empty()) return {};
  return Finding{.title = "a graph computes operators on the host while the device waits",
                 .cost = facts.idle.parts[Cause::kHostNode],
                 .where = commonest(places, 3),
                 .cure =
                     "anynpu run --report names the operators that the NPU has not; take strings, py_function "
                     "and the like out of the function, into the input pipeline"};
}

}  // namespace npu::profile
