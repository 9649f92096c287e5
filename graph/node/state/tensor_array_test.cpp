// SPDX-License-Identifier: Apache-2.0
// What loops with arrays and stacks cost, and that no pass takes their nodes for others.
#include "graph/value/tensor_array.h"

#include <gtest/gtest.h>

#include "device/device_fixture.h"
#include "graph/dump/watched_library.h"
#include "graph/graph_fixture.h"
#include "graph/ir/node_error.h"
#include "graph/report/report.h"
#include "graph/run/executable.h"
#include "graph/value/stack.h"

namespace npu::graph {
namespace {

using Floats = std::vector<float>;
const ValueType kFloats = ValueType::tensor(DType::kFloat), kInts = ValueType::tensor(DType::kInt32);
const ValueType kHandle = ValueType::resource();

Edge stateful(TestFunction& t, const std::string& op, std::vector<Edge> inputs, ValueType type = kFloats,
              size_t outputs = 1, std::vector<NodeId> after = {}) {
  const Edge edge = t.node(op, std::move(inputs), type, outputs, std::move(after));
  (*t.function())[edge.node].stateful = true;
  return edge;
}

struct World {
  explicit World(const std::vector<TestFunction>& functions) : library(0) {
    Program program;
    for (const TestFunction& f : functions) program.add(f.function());
    library.add(program);
  }
  std::vector<Value> run(const std::string& name, const std::vector<Value>& arguments) {
    return library.get(name)->run(arguments);
  }
  /// Of the function and of what continues it where a plan ends early.
  size_t plans(const std::string& name) { return library.get(name)->family().size(); }
  WatchedLibrary library;
};

/// output[i] = input[i] * 2, and a push of input[i], whose only use is that it happens.
TestFunction turn() {
  TestFunction t("turn");
  const Edge i = t.argument("i", kInts), count = t.argument("count", kInts), from = t.argument("from", kHandle),
             to = t.argument("to", kHandle), kept = t.argument("kept", kHandle), in = t.argument("in"),
             out = t.argument("out");
  const Edge x = stateful(t, "TensorArrayReadV3", {from, i, in});
  const Edge push = stateful(t, "StackPushV2", {kept, x});
  const Edge y = t.node("AddV2", {x, x});
  const Edge flow = stateful(t, "TensorArrayWriteV3", {to, i, y, out});
  t.result(t.node("AddV2", {i, t.constant<int32_t>({}, {1})}, kInts)).result(count);
  t.result(from).result(to).result(kept).result(in).result(flow);
  t.must_run(push);
  return t;
}

TestFunction more() {
  TestFunction t("more");
  const Edge i = t.argument("i", kInts), count = t.argument("count", kInts);
  for (const char* name : {"from", "to", "kept"}) t.argument(name, kHandle);
  t.argument("in"), t.argument("out");
  t.result(t.node("Less", {i, count}, ValueType::tensor(DType::kBool)));
  return t;
}

Edge make_array(TestFunction& t, Edge count) {
  const Edge array = stateful(t, "TensorArrayV3", {count}, kHandle, 2);
  (*t.function())[array.node].outputs[1].type = kFloats;
  t.with(array, "dtype", kFloats);
  return array;
}

/// All outputs, and what came off the stack first.
TestFunction layer() {
  TestFunction t("layer");
  const Edge x = t.argument("x"), count = t.argument("count", kInts), all = t.argument("all", kInts);
  const Edge from = make_array(t, count), to = make_array(t, count);
  const Edge kept = stateful(t, "StackV2", {t.constant<int32_t>({}, {-1})}, kHandle);
  t.with(kept, "elem_type", kFloats);
  const Edge in = stateful(t, "TensorArrayScatterV3", {from, all, x, {from.node, 1}});
  const Edge loop =
      t.node("While", {t.constant<int32_t>({}, {0}), count, from, to, kept, in, {to.node, 1}}, kFloats, 7);
  Node& node = (*t.function())[loop.node];
  node.outputs[0].type = node.outputs[1].type = kInts;
  for (const size_t handle : {2, 3, 4}) node.outputs[handle].type = kHandle;
  node.stateful = true;
  t.with(loop, "cond", FunctionName{"more"}).with(loop, "body", FunctionName{"turn"});
  t.result(stateful(t, "TensorArrayGatherV3", {to, all, {loop.node, 6}}));
  const Edge first = stateful(t, "StackPopV2", {kept}, kFloats, 1, {loop.node});
  t.result(first).result(stateful(t, "StackPopV2", {kept}, kFloats, 1, {loop.node}));
  return t;
}

std::vector<Value> arguments(int32_t turns) {
  std::vector<float> numbers(static_cast<size_t>(turns) * 2);
  std::vector<int32_t> all(static_cast<size_t>(turns));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int32_t>(i);
  return {value_of<float>({turns, 2}, numbers), value_of<int32_t>({}, {turns}), value_of<int32_t>({turns}, all)};
}

TEST(ArraysInLoops, TurnsRunByOnePlanButTheFirst) {
  World world({turn(), more(), layer()});
  for (const int32_t turns : {2, 30, 500}) {
    const std::vector<Value> got = world.run("layer", arguments(turns));
    Floats wanted;
    for (int32_t i = 0; i < 2 * turns; ++i) wanted.push_back(static_cast<float>(2 * i));
    EXPECT_EQ(numbers_of<float>(got[0]), wanted);
    const auto last = static_cast<float>(2 * turns - 2);
    // Equal nodes, of which each takes its own value off.
    EXPECT_EQ(numbers_of<float>(got[1])[0] + numbers_of<float>(got[2])[0], last + last - 2);
    EXPECT_NE(numbers_of<float>(got[1])[0], numbers_of<float>(got[2])[0]);
    EXPECT_EQ(world.plans("turn"), 2);  // before the first element is known, and after
  }
}

TEST(ArraysInLoops, NothingIsPlannedAnewInTheTurnsOfALoop) {
  TestFunction f("f");
  const Edge stack = f.argument("stack", kHandle), x = f.argument("x");
  const Edge push = stateful(f, "StackPushV2", {stack, x});
  f.result(f.node("Neg", {stateful(f, "StackPopV2", {stack}, kFloats, 1, {push.node})}));
  World world({f});
  const auto stack_of = std::make_shared<Stack>(kFloats, "s", -1);
  const Value handle{{}, nullptr, stack_of};
  const auto run = [&](const Dims& shape) {
    const auto numbers = Floats(static_cast<size_t>(count_of(shape)), 3);
    return world.run("f", {handle, value_of<float>(shape, numbers)}).front();
  };
  EXPECT_EQ(numbers_of<float>(run({2})), (Floats{-3, -3}));
  EXPECT_EQ(run({2}).tensor.shape, (Dims{2}));
  EXPECT_EQ(world.plans("f"), 3);  // the first ends before the pop, of which nothing is known; what is left; both
  run({2});
  EXPECT_EQ(world.plans("f"), 3);
  EXPECT_EQ(run({3}).tensor.shape, (Dims{3}));  // the plan that knew of the shape 2 ends before the pop
  EXPECT_EQ(run({4}).tensor.shape, (Dims{4}));
  EXPECT_EQ(stack_of->size(), 0);
}

TEST(ArraysInLoops, AnElementOfAnotherShapeThanPlannedIsTold) {
  TestFunction f("f");
  const Edge array = f.argument("array", kHandle), flow = f.argument("flow");
  f.result(stateful(f, "TensorArrayReadV3", {array, f.constant<int32_t>({}, {0}), flow}));
  World world({f});
  const auto made = [](ListType type) {
    return std::make_shared<TensorArray>(0, std::move(type), 1, TensorArray::Form{.name = "a"});
  };
  const auto array_of = made(ListType(kFloats, PartialShape::unknown()));
  array_of->write(0, value_of<float>({2}, {1, 2}).tensor);
  const Value none = value_of<float>({}, {0});
  EXPECT_EQ(numbers_of<float>(world.run("f", {{{}, nullptr, array_of}, none}).front()), (Floats{1, 2}));
  EXPECT_THROW(world.run("f", {{{}, nullptr, array_of}, none}), NodeError);
  EXPECT_ERROR(world.run("f", {{{}, nullptr, std::make_shared<Stack>(kFloats, "s", -1)}, none}), Code::kNnInvalidParam,
               "Trying to access resource using the wrong type. Expected an array of tensors, got the handle of stack");
}

/// What the error of a function of one node says, whose first input is a handle.
std::string refusal(TestFunction& f, std::shared_ptr<Object> object) {
  World world({f});
  try {
    world.run("f", {{{}, nullptr, std::move(object)}});
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kNnInvalidParam);
    return e.message();
  }
  return "accepted";
}

TEST(HandleNodes, RefuseShapesInFrontOfGradientsThatAreNone) {
  const auto gradient = [](const Dims& shape, const std::vector<int32_t>& sizes) {
    TestFunction f("f");
    const Edge array = f.argument("array", kHandle);
    const Edge made = stateful(f, "TensorArrayGradWithShape",
                               {array, f.constant<float>({}, {0}), f.constant<int32_t>(shape, sizes)}, kHandle, 2);
    (*f.function())[made.node].outputs[1].type = kFloats;
    f.with(made, "source", std::string("g")).result({made.node, 1});
    return refusal(f, std::make_shared<TensorArray>(0, ListType(kFloats, {}), 1, TensorArray::Form{.name = "a"}));
  };
  EXPECT_NE(gradient({1}, {-1}).find("Dimension -1 must be >= 0"), std::string::npos);
  EXPECT_NE(gradient({}, {2}).find("shape must be a vector of {int32,int64}, got shape []"), std::string::npos);
  EXPECT_EQ(gradient({1}, {2}), "accepted");
}

TEST(HandleNodes, RefuseToPushAnotherType) {
  TestFunction f("f");
  f.result(stateful(f, "StackPushV2", {f.argument("stack", kHandle), f.constant<int32_t>({}, {1})}, kInts));
  const std::string text = refusal(f, std::make_shared<Stack>(kFloats, "s", -1));
  EXPECT_NE(text.find("Must have type 1 but got 3: the stack holds float, and int32 is pushed"), std::string::npos);
}

TEST(HandleNodes, RefuseTheHandleOfAnotherObject) {
  TestFunction f("f");
  f.result(stateful(f, "StackPopV2", {f.argument("stack", kHandle)}));
  EXPECT_NE(refusal(f, std::make_shared<Variable>(0)).find("Expected a stack, got the handle of uninitialized"),
            std::string::npos);
}

}  // namespace
}  // namespace npu::graph
