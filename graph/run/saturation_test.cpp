// SPDX-License-Identifier: Apache-2.0
// A function on a device that saturates: results, the word, and the node that is told.
#include "graph/run/saturation.h"

#include <gtest/gtest.h>

#include <limits>

#include "device/context/state.h"
#include "graph/graph_fixture.h"
#include "graph/run/executable.h"
#include "graph/run/library.h"

namespace npu::graph {
namespace {

constexpr int kDevice = 3;
constexpr float kLargest = std::numeric_limits<float>::max();
constexpr float kInf = std::numeric_limits<float>::infinity();

class SaturatingFunction : public ::testing::Test {
 protected:
  void SetUp() override {
    device::set_overflow_mode(kDevice, 0);
    device::clear_overflow(kDevice);
  }
  void TearDown() override { device::set_overflow_mode(kDevice, 1); }

  static std::vector<float> run(TestFunction& f, std::vector<Value> arguments, HostNode host = {}) {
    Library library(kDevice, std::move(host));
    Program program;
    program.add(f.function());
    library.add(program);
    return numbers_of<float>(library.get(f.function()->name)->run(std::move(arguments)).front());
  }
};

Value ones(std::vector<float> numbers) {
  const auto count = static_cast<int64_t>(numbers.size());
  return value_of<float>({count}, std::move(numbers));
}

TEST_F(SaturatingFunction, TheNodeThatOverflowsIsToldNotThoseAfterIt) {
  TestFunction f("train_step");
  const Edge x = f.argument("x"), square = f.node("Mul", {x, x});
  f.result(f.node("AddV2", {square, square}));
  const int64_t step = device::overflow_step(kDevice);
  EXPECT_EQ(run(f, {ones({1e30F, 2, -3})}), (std::vector<float>{kLargest, 8, 18}));
  EXPECT_EQ(device::overflow_word(kDevice), 1u);
  const device::Overflow told = device::overflows(kDevice).back();
  EXPECT_EQ(told.node, "n_Mul");
  EXPECT_EQ(told.type, "Mul");
  EXPECT_EQ(told.function, "train_step");
  EXPECT_EQ(told.step, step);
  EXPECT_EQ(told.infinities, 1);
  EXPECT_EQ(told.most, 9);
}

TEST_F(SaturatingFunction, InInfNanModeNothingIsLookedAt) {
  device::set_overflow_mode(kDevice, 1);
  TestFunction f("f");
  const Edge x = f.argument("x");
  f.result(f.node("Mul", {x, x}));
  EXPECT_EQ(run(f, {ones({1e30F})}), std::vector<float>{kInf});
  EXPECT_EQ(device::overflow_word(kDevice), 0u);
}

TEST_F(SaturatingFunction, ConstantsAreComputedAsTheDeviceIsSetInEachRun) {
  TestFunction f("f");
  const Edge c = f.constant<float>({2}, {1e30F, 3});
  f.result(f.node("Mul", {c, c}));
  Library library(kDevice);
  Program program;
  program.add(f.function());
  library.add(program);
  for (const int mode : {0, 1, 0}) {
    device::set_overflow_mode(kDevice, mode);
    const Value got = library.get("f")->run({}).front();
    EXPECT_EQ(numbers_of<float>(got), (std::vector<float>{mode == 0 ? kLargest : kInf, 9}));
    EXPECT_EQ(device::overflow_word(kDevice), mode == 0 ? 1u : 0u);
    device::clear_overflow(kDevice);
  }
}

TEST_F(SaturatingFunction, InfinitiesOfTheClientAreDataUntilSomethingComputes) {
  TestFunction f("f");
  const Edge x = f.argument("x");
  f.result(f.node("Relu", {x}));
  EXPECT_EQ(run(f, {ones({kInf, -1})}), (std::vector<float>{kInf, 0}));
  EXPECT_EQ(device::overflow_word(kDevice), 0u);
}

TEST_F(SaturatingFunction, ResultsOfTheHostSaturateInACopy) {
  TestFunction f("f");
  f.result(f.node("OnlyTheClientHasIt", {f.argument("x")}));
  const Value theirs = ones({kInf, -kInf, std::numeric_limits<float>::quiet_NaN(), 5});
  const HostNode host = [&](const Node&, std::span<const Value>) { return std::vector<Value>{theirs}; };
  EXPECT_EQ(run(f, {ones({1})}, host), (std::vector<float>{kLargest, -kLargest, 0, 5}));
  EXPECT_EQ(numbers_of<float>(theirs)[0], kInf);
  EXPECT_EQ(device::overflows(kDevice).back().type, "OnlyTheClientHasIt");
  EXPECT_EQ(device::overflows(kDevice).back().nans, 1);
}

TEST_F(SaturatingFunction, DataThatTheHostBringsIsLeftAlone) {
  TestFunction f("f");
  f.result(f.node("Next", {f.argument("x", ValueType::tensor(DType::kInt32))}));
  const HostNode host = [](const Node&, std::span<const Value>) { return std::vector<Value>{ones({kInf})}; };
  EXPECT_EQ(run(f, {value_of<int32_t>({1}, {0})}, host), std::vector<float>{kInf});
  EXPECT_EQ(device::overflow_word(kDevice), 0u);
}

TEST_F(SaturatingFunction, TheWordIsReadAndClearedInTheOrderOfControlEdges) {
  const auto words = ValueType::tensor(DType::kInt32);
  TestFunction f("f");
  const Edge x = f.argument("x"), square = f.node("Mul", {x, x});
  const Edge status = f.node("NpuGetFloatStatusV2", {}, words, 1, {square.node});
  const Edge cleared = f.node("NpuClearFloatStatusV2", {}, words, 0, {status.node});
  const Edge after = f.node("NpuGetFloatStatusV2", {}, words, 1, {cleared.node});
  for (const Edge edge : {status, cleared, after}) (*f.function())[edge.node].stateful = true;
  f.result(status).result(after);
  Library library(kDevice);
  Program program;
  program.add(f.function());
  library.add(program);
  for (const float large : {1e30F, 1.F, 1e30F}) {
    const std::vector<Value> got = library.get("f")->run({ones({large})});
    EXPECT_EQ(numbers_of<int32_t>(got[0]), (std::vector<int32_t>{large > 1, 0, 0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(numbers_of<int32_t>(got[1]), std::vector<int32_t>(8, 0));
  }
}

TEST_F(SaturatingFunction, TheFirstEditionOfTheWordGoesFromOperatorToOperator) {
  TestFunction f("f");
  const Edge x = f.argument("x"), square = f.node("Mul", {x, x});
  const Edge words = f.node("NpuAllocFloatStatus", {}, ValueType::tensor(DType::kFloat), 1, {square.node});
  const Edge status = f.node("NpuGetFloatStatus", {words});
  const Edge cleared = f.node("NpuClearFloatStatus", {status});
  const Edge after = f.node("NpuGetFloatStatus", {cleared});
  for (const Edge edge : {words, status, cleared, after}) (*f.function())[edge.node].stateful = true;
  f.result(status).result(after);
  Library library(kDevice);
  Program program;
  program.add(f.function());
  library.add(program);
  for (const float large : {1e30F, 1.F, 1e30F}) {
    const std::vector<Value> got = library.get("f")->run({ones({large})});
    EXPECT_EQ(numbers_of<float>(got[0]), (std::vector<float>{large > 1 ? 1.F : 0.F, 0, 0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(numbers_of<float>(got[1]), std::vector<float>(8, 0));
  }
}

TEST_F(SaturatingFunction, AStatusOfAnotherShapeIsRefused) {
  TestFunction f("f");
  f.result(f.node("NpuGetFloatStatus", {f.argument("x")}));
  try {
    run(f, {ones({1})});
    ADD_FAILURE() << "one number was taken for eight";
  } catch (const Error& e) {
    EXPECT_NE(e.message().find("it must be the 8 numbers that NpuAllocFloatStatus gives"), std::string::npos)
        << e.message();
  }
}

}  // namespace
}  // namespace npu::graph
