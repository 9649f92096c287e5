// SPDX-License-Identifier: Apache-2.0
#include "graph/run/compilation.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "device/trace/listener.h"
#include "device/trace/recorder.h"
#include "device/trace/text.h"
#include "graph/graph_fixture.h"
#include "graph/run/executable.h"
#include "graph/run/library.h"

namespace npu::graph {
namespace {

namespace trace = device::trace;
using trace::HostWork;
using trace::Need;

/// Hears of what the host does for graphs; of nothing else.
class Heard final : public trace::Listener {
 public:
  void heard(const trace::TaskRecord&) override {}
  void heard(const trace::CallRecord&) override {}
  void heard(const trace::MarkRecord&) override {}
  void heard(const trace::MemoryRecord&) override {}
  void heard(const trace::GraphRecord& record) override { all.push_back(record); }
  void begun(const trace::MarkRecord&) override {}
  void entered(uint32_t, const trace::Owners&) override {}

  std::vector<trace::GraphRecord> of(HostWork work) const {
    std::vector<trace::GraphRecord> found;
    for (const auto& one : all)
      if (one.work == work) found.push_back(one);
    return found;
  }
  std::vector<trace::GraphRecord> all;
};

class CompilationRecords : public ::testing::Test {
 protected:
  void SetUp() override { trace::listen(heard.get()); }
  void TearDown() override { trace::listen(nullptr); }

  /// A function of this name: its argument n, times so often, of what the client makes of its argument x.
  void add(const std::string& name) {
    TestFunction f(name);
    const Edge x = f.argument("x"), n = f.argument("n", ValueType::tensor(DType::kInt32));
    f.result(f.node("Tile", {f.node("Mystery", {x}), n}));
    Program program;
    program.add(f.function());
    library.add(program);
  }
  void run(const std::string& name, int64_t size, int32_t times) {
    std::vector<float> numbers(static_cast<size_t>(size), 1);
    library.get(name, Role::kRoot)->run({value_of<float>({size}, std::move(numbers)), value_of<int32_t>({1}, {times})});
  }

  const std::unique_ptr<Heard> heard = std::make_unique<Heard>();
  Library library{0, [](const Node&, std::span<const Value> in) { return std::vector<Value>{in[0]}; }};
};

TEST_F(CompilationRecords, TellWhyEachPlanIsMade) {
  add("__inference_step_7");
  run("__inference_step_7", 4, 2);
  run("__inference_step_7", 4, 2);  // nothing is compiled
  run("__inference_step_7", 3, 2);
  ASSERT_EQ(heard->of(HostWork::kPasses).size(), 1u);
  std::vector<trace::GraphRecord> plans;
  for (const auto& one : heard->of(HostWork::kPlan))
    if (one.need != Need::kValues) plans.push_back(one);
  ASSERT_GE(plans.size(), 2u);
  EXPECT_EQ(plans.front().need, Need::kFirst);
  EXPECT_EQ(plans.front().reason, 0u);
  EXPECT_STREQ(trace::text_of(plans.front().graph), "__inference_step_7");
  const auto again = std::ranges::find(plans, Need::kShapes, &trace::GraphRecord::need);
  ASSERT_NE(again, plans.end());
  EXPECT_STREQ(trace::text_of(again->reason), "argument x was float32[4] and is float32[3]");
  for (const auto& one : heard->all) EXPECT_LE(one.start, one.end);
}

TEST_F(CompilationRecords, ValuesThatDecideAboutShapesAreAReasonOfTheirOwn) {
  TestFunction f("f");
  const Edge x = f.argument("x"), n = f.argument("n", ValueType::tensor(DType::kInt32));
  f.result(f.node("Tile", {x, n}));
  Program program;
  program.add(f.function());
  library.add(program);
  run("f", 4, 2);
  run("f", 4, 3);
  const auto plans = heard->of(HostWork::kPlan);
  ASSERT_EQ(plans.size(), 2u);
  EXPECT_EQ(plans[1].need, Need::kValues);
  EXPECT_STREQ(trace::text_of(plans[1].reason), "argument n was int32[1][2] and is int32[1][3]");
}

TEST_F(CompilationRecords, AFunctionThatIsHandedOverAnew) {
  add("__inference_step_7");
  run("__inference_step_7", 4, 2);
  add("__inference_step_12");
  run("__inference_step_12", 4, 2);
  add("__inference_other_13");
  run("__inference_other_13", 4, 2);
  const auto passes = heard->of(HostWork::kPasses);
  ASSERT_EQ(passes.size(), 3u);
  EXPECT_EQ(passes[0].need, Need::kFirst);
  EXPECT_EQ(passes[1].need, Need::kAnew);
  EXPECT_STREQ(trace::text_of(passes[1].reason),
               "a function of this name was handed over before, with arguments of the same types and shapes");
  EXPECT_EQ(passes[2].need, Need::kFirst);
}

TEST_F(CompilationRecords, NodesOfTheClientHaveTheirTypeAndTime) {
  add("__inference_step_7");
  run("__inference_step_7", 4, 2);
  const auto nodes = heard->of(HostWork::kNode);
  ASSERT_EQ(nodes.size(), 1u);
  EXPECT_STREQ(trace::text_of(nodes[0].type), "Mystery");
  EXPECT_STREQ(trace::text_of(nodes[0].graph), "__inference_step_7");
  EXPECT_STREQ(trace::text_of(nodes[0].reason), "there is no kernel of it");
  EXPECT_EQ(nodes[0].bytes, 2u * 16);
  EXPECT_EQ(nodes[0].need, Need::kNone);
}

TEST_F(CompilationRecords, NothingIsMadeWhileNobodyListens) {
  trace::listen(nullptr);
  add("f");
  run("f", 4, 2);
  EXPECT_TRUE(heard->all.empty());
}

}  // namespace
}  // namespace npu::graph
