// SPDX-License-Identifier: Apache-2.0
#include "graph/run/fusion_choice.h"

#include "graph/graph_fixture.h"
#include "graph/run/executable.h"
#include "graph/run/library.h"
#include "ops/tuner/tuner.h"
#include "ops/tuning/tuning_fixture.h"

namespace npu::graph {
namespace {

namespace tuning = ops::tuning;

/// Counts the nodes of plans.
class NodeCount final : public Listener {
 public:
  void planned(const PlanMade& made) override { nodes = made.plan.nodes.size(); }
  size_t nodes = 0;
};

class FusionChoice : public tuning::WithBanks {
 protected:
  void TearDown() override {
    tuning::end();
    WithBanks::TearDown();
  }
  /// exp(x) * 2 + y, in one node where nobody objects; gives how many ran.
  static size_t nodes_run(const std::string& name = "") {
    TestFunction f("f");
    const Edge x = f.argument("x" + name), y = f.argument("y");
    f.result(f.node("AddV2", {f.node("Mul", {f.node("Exp", {x}), f.constant<float>({}, {2})}), y}));
    const auto count = std::make_shared<NodeCount>();
    Library library(0);
    library.listen(count);
    Program program;
    program.add(f.function());
    library.add(program);
    const auto out = library.get("f", Role::kRoot)->run({value_of<float>({2}, {0, 0}), value_of<float>({2}, {1, 5})});
    EXPECT_EQ(numbers_of<float>(out[0]), (std::vector<float>{3, 7}));
    return count->nodes;
  }
  /// The one question that the function asks.
  std::string key() const {
    tuning::begin(tuning::Job::kGraphs, {}, folder);
    nodes_run();
    const auto findings = tuning::session()->findings();
    tuning::end();
    EXPECT_EQ(findings.size(), 1u);
    return findings.empty() ? "" : findings.front().question.second;
  }
};

TEST_F(FusionChoice, WithoutABankNodesAreWhole) { EXPECT_EQ(nodes_run(), 1u); }

TEST_F(FusionChoice, TuningMeasuresEachNodeOnce) {
  const std::string asked = key();
  const auto entry = tuning::entry_of(tuning::Job::kGraphs, "fused_node", asked);
  ASSERT_TRUE(entry.has_value());
  EXPECT_EQ(entry->usual, "whole");
  EXPECT_EQ(entry->way, "parts");
  EXPECT_GT(entry->usual_us, 0);
  EXPECT_GT(entry->way_us, 0);
  EXPECT_NE(asked.find("float32"), std::string::npos) << asked;
}

TEST_F(FusionChoice, WhereThePartsWonTheyRunOneByOne) {
  const std::string asked = key();
  tuning::Entry entry = winner("parts");
  entry.usual = "whole", entry.time = "2099-01-01T00:00:00Z";
  tuning::learn(tuning::Job::kGraphs, "fused_node", asked, entry);
  EXPECT_EQ(nodes_run(), 3u);
  EXPECT_EQ(nodes_run("_of_another_name"), 3u);
  entry.won = false;
  tuning::learn(tuning::Job::kGraphs, "fused_node", asked, entry);
  EXPECT_EQ(nodes_run(), 1u);
}

TEST_F(FusionChoice, OnlyWhatIsNamedIsMeasured) {
  tuning::begin(tuning::Job::kGraphs, {.types = {"Softmax"}}, folder);
  nodes_run();
  EXPECT_TRUE(tuning::session()->findings().empty());
  tuning::end();
  tuning::begin(tuning::Job::kGraphs, {.types = {"Exp"}}, folder);
  nodes_run();
  EXPECT_EQ(tuning::session()->findings().size(), 1u);
}

}  // namespace
}  // namespace npu::graph
