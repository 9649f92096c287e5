// SPDX-License-Identifier: Apache-2.0
// Damaged messages: recorded training steps with fields dropped, doubled, swapped, overwritten and cut off. Each is
// refused with an Error, or read, verified, rewritten and run. Round n is the same every time; ANYNPU_FUZZ_SECONDS
// makes more of them than the few of a usual run, ANYNPU_FUZZ_FIRST starts at a later one.
#include <chrono>

#include "graph/import/damage_fixture.h"
#include "graph/import/tensorflow/recorded_fixture.h"
#include "graph/ir/control_flow.h"
#include "graph/run/executable.h"
#include "graph/run/library.h"

namespace npu::graph::tensorflow {
namespace {

bool loops(const Program& program) {
  for (const auto& [name, function] : program.functions)
    for (const Node& node : function->nodes)
      if (const auto call = as_call(node); call && call->kind == Kind::kWhile) return true;
  return false;
}

/// A damaged loop may never end, so those are compiled and not run.
void read_and_run(const std::string& model, const std::string& bytes) {
  RecordedFeed feed(model);
  Program program;
  read_graph(bytes, "outer", recorded_operators(), program);
  Library library(0, [&](const Node& node, std::span<const Value>) { return feed.next(node); });
  library.add(program);
  for (const auto& [name, function] : program.functions) library.get(name);
  if (const std::string step = step_of(program); !step.empty() && !loops(program))
    library.get(step)->run(feed.arguments());
}

TEST(Fuzz, DamagedMessagesAreRefusedOrRun) {
  const std::chrono::seconds limit(number_of_variable("ANYNPU_FUZZ_SECONDS", 0));
  const auto end = std::chrono::steady_clock::now() + limit;
  std::vector<std::string> whole;
  for (const char* model : kRecorded) whole.push_back(recorded_file(std::string(model) + ".pb"));
  size_t refused = 0, ran = 0;
  const auto first = static_cast<size_t>(number_of_variable("ANYNPU_FUZZ_FIRST", 0));
  for (size_t round = first; round < first + 150 || std::chrono::steady_clock::now() < end; ++round) {
    if (limit.count() > 0 && round % 250 == 0) std::cerr << "round " << round << std::endl;
    Random random(round);
    const size_t which = round % whole.size();
    const std::string bytes = damaged_often(random, whole[which]);
    try {
      read_and_run(kRecorded[which], bytes);
      ++ran;
    } catch (const Error& e) {
      EXPECT_FALSE(e.message().empty());
      ++refused;
    } catch (const std::exception& e) {
      ADD_FAILURE() << "round " << round << ": " << e.what();
    }
  }
  EXPECT_GT(refused, 10u);
  EXPECT_GT(ran, 10u);
}

}  // namespace
}  // namespace npu::graph::tensorflow
