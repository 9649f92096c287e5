// SPDX-License-Identifier: Apache-2.0
// Damaged messages: recorded training steps with fields dropped, doubled, swapped, overwritten and cut off. Each is
// refused with an Error, or read, verified, rewritten and run. Round n is the same every time; ANYNPU_FUZZ_SECONDS
// makes more of them than the few of a usual run, ANYNPU_FUZZ_FIRST starts at a later one.
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
  std::vector<std::string> whole;
  for (const char* model : kRecorded) whole.push_back(recorded_file(std::string(model) + ".pb"));
  const auto round_of = [&](size_t round, Random& random) {
    const size_t which = round % whole.size();
    read_and_run(kRecorded[which], damaged_often(random, whole[which]));
  };
  const Rounds rounds = fuzz(150, round_of, 250);
  EXPECT_GT(rounds.refused, 10u);
  EXPECT_GT(rounds.accepted, 10u);
}

}  // namespace
}  // namespace npu::graph::tensorflow
