// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/tensor/nonfinite.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "graph/graph_fixture.h"
#include "graph/run/executable.h"
#include "graph/run/library.h"
#include "ops/runner/runner.h"

namespace npu::graph {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

void name_it(const void* name, device::TaskName& task) { task.node = task.type = static_cast<const char*>(name); }

class NonFiniteResults : public ::testing::Test {
 protected:
  void SetUp() override {
    watch_nonfinite([this](const NonFinite& found) { told.push_back(to_string(found)); });
  }
  void TearDown() override { watch_nonfinite({}); }

  static Tensor floats(std::vector<float>& values) {
    return make_tensor(values.data(), DType::kFloat, {static_cast<int64_t>(values.size())});
  }
  static void run(ops::Operator& op, const char* name) {
    op.prepare();
    ops::run_on(0, op, {name_it, name});
  }
  /// In place, where `out` is `x`.
  static void log(std::vector<float>& x, std::vector<float>& out) {
    auto op = ops::create(*ops::find_operator("log"));
    op->def->field("self")->of<ops::Operand>(*op) = {floats(x), {}};
    op->def->field("out")->of<Tensor>(*op) = floats(out);
    run(*op, "aclnnLog");
  }
  static void multiply(std::vector<float>& x, double by, std::vector<float>& out) {
    auto op = ops::create(*ops::find_operator("mul"));
    op->def->field("self")->of<ops::Operand>(*op) = {floats(x), {}};
    op->def->field("other")->of<ops::Operand>(*op) = {{}, Scalar(by)};
    op->def->field("out")->of<Tensor>(*op) = floats(out);
    run(*op, "aclnnMuls");
  }
  static std::vector<float> multiplied(std::vector<float> x, double by) {
    std::vector<float> out(x.size());
    multiply(x, by, out);
    return out;
  }

  std::vector<std::string> told;
};

using Texts = std::vector<std::string>;

TEST_F(NonFiniteResults, AreToldOfWhoMadeThemAndNotOfWhoWasGivenThem) {
  std::vector<float> x{0, 1, 2}, y(3), z(3);
  log(x, y);
  log(y, z);  // -inf becomes NaN, 0 -inf
  EXPECT_EQ(told, (Texts{"aclnnLog made 1 infinity of finite inputs: output out float32[3]",
                         "aclnnLog made 1 infinity and 1 NaN of infinite inputs: output out float32[3]"}));
}

TEST_F(NonFiniteResults, OfATaskThatWritesWhatItReads) {
  std::vector<float> x{0, -1};
  log(x, x);
  EXPECT_EQ(told, Texts{"aclnnLog made 1 infinity and 1 NaN of finite inputs: output out float32[2]"});
  log(x, x);
  EXPECT_EQ(told.size(), 1u);
}

TEST_F(NonFiniteResults, ThatWereAskedForAreNotTold) {
  multiplied({1, 2}, -kInf);
  multiplied({1, 2}, kNan);
  EXPECT_EQ(told, Texts{});
  multiplied({1, 0}, -kInf);  // a mask that was multiplied where it should have been selected
  EXPECT_EQ(told, Texts{"aclnnMuls made 1 infinity and 1 NaN of infinite inputs: output out float32[2]"});
}

TEST_F(NonFiniteResults, OfNaNNothingIsTold) {
  multiplied({kNan, 1e38f}, 1e38);
  EXPECT_EQ(told, Texts{});
}

TEST_F(NonFiniteResults, OverflowIsOne) {
  multiplied({1e38f, 1}, 1e38);
  EXPECT_EQ(told, Texts{"aclnnMuls made 1 infinity of finite inputs: output out float32[2]"});
}

TEST_F(NonFiniteResults, OfGraphsAreToldByNode) {
  TestFunction f("step");
  const Edge x = f.argument("x"), y = f.node("Log", {x});
  f.result(f.node("MatMul", {y, y}));
  Library library{0, {}};
  Program program;
  program.add(f.function());
  library.add(program);
  library.get("step", Role::kRoot)->run({value_of<float>({2, 2}, {0, 1, 2, 3})});
  ASSERT_FALSE(told.empty());
  EXPECT_NE(told[0].find(" of step in step 0 made 1 infinity of finite inputs: output float32[2x2]"), std::string::npos)
      << told[0];
}

TEST(NonFiniteText, NamesWhatAFusedNodeStandsFor) {
  NonFinite found;
  found.type = "_FusedElementwise", found.node = "mul", found.origins = {"Log", "mul"};
  found.dtype = DType::kFloat, found.shape = {2}, found.nans = 2;
  EXPECT_EQ(to_string(found), "_FusedElementwise node 'mul' (Log, mul) made 2 NaN of finite inputs: output float32[2]");
}

TEST(NonFiniteWatch, HasEndedWhereItWasEnded) {
  watch_nonfinite([](const NonFinite&) {});
  EXPECT_TRUE(ops::observed());
  watch_nonfinite({});
  EXPECT_FALSE(ops::observed());
}

}  // namespace
}  // namespace npu::graph
