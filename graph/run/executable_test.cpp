// SPDX-License-Identifier: Apache-2.0
#include "graph/run/executable.h"

#include <gtest/gtest.h>

#include <thread>

#include "device/memory/memory.h"
#include "graph/dump/watched_library.h"
#include "graph/graph_fixture.h"
#include "graph/report/report.h"
#include "graph/run/library.h"

namespace npu::graph {
namespace {

using Floats = std::vector<float>;
const ValueType kInts = ValueType::tensor(DType::kInt32), kTruth = ValueType::tensor(DType::kBool);
const ValueType kHandle = ValueType::resource();

/// A library of these functions, each under its own name.
struct World {
  explicit World(std::vector<TestFunction> functions, HostNode host = {}) : library(0, std::move(host)) {
    Program program;
    for (const TestFunction& f : functions) program.add(f.function());
    library.add(program);
  }
  std::vector<Value> run(const std::string& name, const std::vector<Value>& arguments) {
    return library.get(name)->run(arguments);
  }
  WatchedLibrary library;
};

std::string refusal(World& world, const std::vector<Value>& arguments) {
  try {
    world.run("f", arguments);
  } catch (const Error& e) {
    return e.message();
  }
  return "accepted";
}

TestFunction sum_of_squares() {
  TestFunction f("f");
  const Edge x = f.argument("x"), y = f.argument("y");
  const Edge squares = f.node("Square", {f.node("AddV2", {x, y})});
  f.result(f.node("Mul", {squares, f.constant<float>({}, {2})}));
  return f;
}

struct Nothing final : NodeState {
  void restart() override {}
};

TEST(Library, FunctionsOfOneSessionShareWhatNodesKeep) {
  Library library(0);
  const auto state = [&](const char* function) {
    return library.state(function, "random", [] { return std::make_shared<Nothing>(); });
  };
  const auto kept = state("s@1");
  EXPECT_EQ(state("s@2"), kept);
  EXPECT_EQ(state("s@2/while/body"), kept);
  EXPECT_NE(state("t@1"), kept);
  EXPECT_NE(state("s"), state("f"));
  library.remove("s");
  EXPECT_NE(state("s@1"), kept) << "gone with the session";
}

TEST(Executable, AValueTooLongToPlanForSendsItsNodeToTheClient) {
  TestFunction f("f");
  const Edge x = f.argument("x"), sizes = f.argument("sizes", kInts);
  f.result(f.node("Neg", {f.node("Reshape", {x, sizes})}));
  int asked = 0;
  World world({f}, [&](const Node&, std::span<const Value> in) {
    ++asked;
    return std::vector<Value>{in[0]};
  });
  const auto value = value_of<float>({2}, {1, 2});
  EXPECT_EQ(numbers_of<float>(world.run("f", {value, value_of<int32_t>({1}, {2})})[0]), (Floats{-1, -2}));
  EXPECT_EQ(asked, 0);
  const auto size = int64_t{1} << 15;
  for (int again = 0; again < 2; ++again)
    EXPECT_EQ(numbers_of<float>(world.run("f", {value, value_of<int32_t>({size}, std::vector<int32_t>(size))})[0]),
              (Floats{-1, -2}));
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(world.library.get("f")->plan_count(), 2u);
}

TEST(Executable, ComputesForEveryShape) {
  World world({sum_of_squares()});
  for (int again = 0; again < 2; ++again) {
    const auto one = world.run("f", {value_of<float>({2}, {1, 2}), value_of<float>({2}, {3, 4})});
    EXPECT_EQ(numbers_of<float>(one[0]), (Floats{32, 72}));
    const auto two = world.run("f", {value_of<float>({2, 1}, {1, 2}), value_of<float>({2}, {0, 1})});
    EXPECT_EQ(two[0].tensor.shape, (Dims{2, 2}));
    EXPECT_EQ(numbers_of<float>(two[0]), (Floats{2, 8, 8, 18}));
  }
  EXPECT_EQ(world.library.get("f")->plan_count(), 2u);
}

TEST(Executable, ErrorsNameTheNode) {
  World world({sum_of_squares()});
  EXPECT_EQ(refusal(world, {value_of<float>({2}, {1, 2}), value_of<float>({3}, {3, 4, 5})}),
            "n_AddV2 (AddV2): shapes 2 and 3 do not broadcast: sizes 2 and 3 differ and neither is 1");
  EXPECT_EQ(refusal(world, {value_of<float>({1}, {1})}), "function f takes 2 arguments; 1 are given");
  const auto good = world.run("f", {value_of<float>({1}, {1}), value_of<float>({1}, {1})});
  EXPECT_EQ(numbers_of<float>(good[0]), Floats{8});
}

TEST(Executable, ArithmeticOfShapesIsConstant) {
  TestFunction f("f");
  const Edge x = f.argument("x");
  // x reshaped to [columns, rows] of itself: Shape, a reversal by Mul with a constant, and Reshape.
  const Edge shape = f.node("Shape", {x}, kInts);
  const Edge doubled = f.node("Mul", {shape, f.constant<int32_t>({2}, {2, 1})}, kInts);
  const Edge halved = f.node("Mul", {doubled, f.constant<int32_t>({2}, {1, -1})}, kInts);
  f.result(f.node("Reshape", {x, f.node("Maximum", {halved, f.constant<int32_t>({2}, {-1, -1})}, kInts)}));
  World world({f});
  const auto out = world.run("f", {value_of<float>({2, 4}, {0, 1, 2, 3, 4, 5, 6, 7})});
  EXPECT_EQ(out[0].tensor.shape, (Dims{4, 2}));
  EXPECT_EQ(numbers_of<float>(out[0])[5], 5);
}

TEST(Executable, ViewsAreWrittenOutWhereTheyLeave) {
  TestFunction f("f");
  const Edge x = f.argument("x");
  const Edge t = f.node("Transpose", {x, f.constant<int32_t>({2}, {1, 0})});
  f.result(t).result(f.node("Reshape", {t, f.constant<int32_t>({1}, {-1})})).result(x);
  World world({f});
  const auto out = world.run("f", {value_of<float>({2, 3}, {1, 2, 3, 4, 5, 6})});
  EXPECT_EQ(out[0].tensor.shape, (Dims{3, 2}));
  EXPECT_EQ(numbers_of<float>(out[0]), (Floats{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(numbers_of<float>(out[1]), (Floats{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(numbers_of<float>(out[2]), (Floats{1, 2, 3, 4, 5, 6}));
}

// A view of one run is an argument of the next.
TEST(Executable, AViewMayComeBackIn) {
  World world({sum_of_squares()});
  Value y = value_of<float>({4}, {9, 9, 3, 4});
  y.tensor = y.tensor.view({2}, {1});
  y.tensor.offset = 2;
  EXPECT_EQ(numbers_of<float>(world.run("f", {value_of<float>({2}, {1, 2}), y})[0]), (Floats{32, 72}));
}

TEST(Executable, AShapeThatOnlyTheRunTells) {
  TestFunction f("f");
  const Edge x = f.argument("x"), n = f.argument("n", kInts);
  // The size comes out of arithmetic on an argument, behind work that can be planned.
  const Edge size = f.node("AddV2", {n, f.constant<int32_t>({1}, {1})}, kInts);
  const Edge y = f.node("Relu", {x});
  f.result(f.node("Neg", {f.node("Reshape", {y, size})}));
  World world({f});
  for (int again = 0; again < 2; ++again) {
    const auto out = world.run("f", {value_of<float>({2, 2}, {1, -2, 3, 4}), value_of<int32_t>({1}, {3})});
    EXPECT_EQ(out[0].tensor.shape, (Dims{4}));
    EXPECT_EQ(numbers_of<float>(out[0]), (Floats{-1, 0, -3, -4}));
  }
  EXPECT_EQ(refusal(world, {value_of<float>({4}, {1, 2, 3, 4}), value_of<int32_t>({1}, {4})}),
            "n_Reshape (Reshape): 4 elements cannot have the shape 5");
}

TEST(Executable, AValueThatIsAViewOfAnArgument) {
  TestFunction f("f");
  const Edge x = f.argument("x"), sizes = f.argument("sizes", kInts);
  // Known as it was given, and not as the view has it.
  const Edge turned = f.node("Transpose", {sizes, f.constant<int32_t>({2}, {1, 0})}, kInts);
  f.result(f.node("Pad", {x, sizes}));
  f.result(f.node("Pad", {x, turned}));
  World world({f});
  for (const int32_t more : {1, 2}) {
    const auto out = world.run("f", {value_of<float>({1, 1}, {5}), value_of<int32_t>({2, 2}, {more, 0, 3, 0})});
    EXPECT_EQ(out[0].tensor.shape, (Dims{1 + more, 4}));
    EXPECT_EQ(out[1].tensor.shape, (Dims{1 + more + 3, 1}));
  }
}

TEST(Executable, NodesOfTheClientRunThere) {
  TestFunction f("f");
  const Edge x = f.argument("x");
  f.result(f.node("Neg", {f.node("Unheard", {f.node("Square", {x})})}));
  int calls = 0;
  World world({f}, [&](const Node& node, std::span<const Value> inputs) {
    ++calls;
    EXPECT_EQ(node.op, "Unheard");
    Floats kept = numbers_of<float>(inputs[0]);
    kept.pop_back();
    const auto count = static_cast<int64_t>(kept.size());
    return std::vector{value_of<float>({count}, kept)};
  });
  EXPECT_EQ(numbers_of<float>(world.run("f", {value_of<float>({3}, {1, 2, 3})})[0]), (Floats{-1, -4}));
  EXPECT_EQ(numbers_of<float>(world.run("f", {value_of<float>({2}, {3, 3})})[0]), (Floats{-9}));
  EXPECT_EQ(calls, 2);
  EXPECT_NE(
      world.library.report().json().find(R"({"bytes":32,"op":"Unheard","reason":"there is no kernel of it","runs":2})"),
      std::string::npos)
      << world.library.report().json();
  World alone({f});
  EXPECT_EQ(refusal(alone, {value_of<float>({1}, {1})}),
            "n_Unheard (Unheard): there is no kernel of it, and no client is there to run it instead");
}

TestFunction train_step() {
  TestFunction f("step");
  const Edge v = f.argument("v", kHandle), x = f.argument("x");
  const Edge before = f.node("ReadVariableOp", {v});
  const Edge add = f.node("AssignAddVariableOp", {v, x}, {}, 0, {before.node});
  const Edge after = f.node("ReadVariableOp", {v}, ValueType::tensor(DType::kFloat), 1, {add.node});
  f.result(before).result(after).must_run(add);
  return f;
}

Value variable_of(Value value) {
  auto variable = std::make_shared<Variable>(0);
  variable->assign(std::move(value));
  Value handle;
  handle.object = variable;
  return handle;
}

Variable& variable(const Value& handle) { return static_cast<Variable&>(*handle.object); }

TEST(Variables, AReadNeverChangesUnderItsReader) {
  World world({train_step()});
  const Value v = variable_of(value_of<float>({2}, {1, 2}));
  const auto first = world.run("step", {v, value_of<float>({2}, {10, 10})});
  const auto second = world.run("step", {v, value_of<float>({2}, {10, 10})});
  EXPECT_EQ(numbers_of<float>(first[0]), (Floats{1, 2}));
  EXPECT_EQ(numbers_of<float>(first[1]), (Floats{11, 12}));
  EXPECT_EQ(numbers_of<float>(second[0]), (Floats{11, 12}));
  EXPECT_EQ(numbers_of<float>(second[1]), (Floats{21, 22}));
  EXPECT_EQ(numbers_of<float>(variable(v).read()), (Floats{21, 22}));
}

TEST(Variables, UpdatesWithoutReadersStayInPlace) {
  TestFunction f("f");
  const Edge v = f.argument("v", kHandle), x = f.argument("x");
  f.must_run(f.node("AssignSubVariableOp", {v, x}, {}, 0));
  World world({f});
  const Value given = value_of<float>({1}, {5});
  const Value v1 = variable_of(given);
  world.run("f", {v1, value_of<float>({1}, {1})});  // leaves the memory of whoever gave the first value
  const void* address = variable(v1).read().tensor.data;
  for (int i = 0; i < 3; ++i) world.run("f", {v1, value_of<float>({1}, {1})});
  EXPECT_EQ(variable(v1).read().tensor.data, address);
  EXPECT_EQ(numbers_of<float>(variable(v1).read()), Floats{1});
  EXPECT_EQ(numbers_of<float>(given), Floats{5});
}

TEST(Variables, ANewShapeIsSeenByWhatFollows) {
  TestFunction f("f");
  const Edge v = f.argument("v", kHandle), x = f.argument("x");
  const Edge assign = f.node("AssignVariableOp", {v, x}, {}, 0);
  f.result(f.node("Square", {f.node("ReadVariableOp", {v}, ValueType::tensor(DType::kFloat), 1, {assign.node})}));
  World world({f});
  Value fresh;
  fresh.object = std::make_shared<Variable>(0);
  EXPECT_EQ(numbers_of<float>(world.run("f", {fresh, value_of<float>({1}, {3})})[0]), Floats{9});
  EXPECT_EQ(numbers_of<float>(world.run("f", {fresh, value_of<float>({2}, {1, 2})})[0]), (Floats{1, 4}));
}

TEST(Variables, ThreadsLoseNoUpdate) {
  World world({train_step()});
  const Value v = variable_of(value_of<float>({1}, {0}));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) world.run("step", {v, value_of<float>({1}, {1})});
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(numbers_of<float>(variable(v).read()), Floats{800});
}

TEST(Variables, ReadingBeforeAssigningIsRefused) {
  World world({train_step()});
  Value fresh;
  fresh.object = std::make_shared<Variable>(0);
  try {
    world.run("step", {fresh, value_of<float>({1}, {1})});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.message(),
              "n_ReadVariableOp (ReadVariableOp): the variable was read before anything was assigned to it; "
              "initialize it first");
  }
}

TEST(ControlFlow, LoopsBranchesAndRecursion) {
  TestFunction less("less"), grow("grow"), loop("loop");
  {
    const Edge i = less.argument("i", kInts), x = less.argument("x");
    less.result(less.node("Less", {i, less.constant<int32_t>({}, {5})}, kTruth));
    (void)x;
  }
  {
    const Edge i = grow.argument("i", kInts), x = grow.argument("x");
    grow.result(grow.node("AddV2", {i, grow.constant<int32_t>({}, {1})}, kInts));
    // Every turn doubles the number of elements: a plan for each shape.
    grow.result(grow.node(
        "Reshape", {grow.node("AddV2", {x, grow.constant<float>({2, 1}, {0, 1})}), grow.constant<int32_t>({1}, {-1})}));
  }
  const Edge i = loop.argument("i", kInts), x = loop.argument("x");
  const Edge end = loop.node("While", {i, x}, ValueType::tensor(DType::kFloat), 2);
  (*loop.function())[end.node].outputs[0].type = kInts;
  loop.with(end, "cond", FunctionName{"less"}).with(end, "body", FunctionName{"grow"});
  loop.result({end.node, 1});
  World world({less, grow, loop});
  const auto out = world.run("loop", {value_of<int32_t>({}, {2}), value_of<float>({1}, {0})});
  EXPECT_EQ(numbers_of<float>(out[0]), (Floats{0, 1, 1, 2, 1, 2, 2, 3}));
}

TEST(ControlFlow, Factorial) {
  TestFunction one("one"), more("more"), f("factorial");
  one.argument("n");
  one.result(one.constant<float>({}, {1}));
  const Edge n = more.argument("n");
  const Edge call = more.node("PartitionedCall", {more.node("Sub", {n, more.constant<float>({}, {1})})});
  more.with(call, "f", FunctionName{"factorial"}).result(more.node("Mul", {n, call}));
  const Edge m = f.argument("n");
  const Edge branch = f.node("If", {f.node("LessEqual", {m, f.constant<float>({}, {1})}, kTruth), m});
  f.with(branch, "then_branch", FunctionName{"one"}).with(branch, "else_branch", FunctionName{"more"}).result(branch);
  World world({one, more, f});
  EXPECT_EQ(numbers_of<float>(world.run("factorial", {value_of<float>({}, {6})})[0]), Floats{720});
}

TEST(Executable, MemoryComesBack) {
  World world({sum_of_squares(), train_step()});
  const Value v = variable_of(value_of<float>({1000}, Floats(1000, 1)));
  const auto run = [&] {
    world.run("f", {value_of<float>({1000}, Floats(1000, 1)), value_of<float>({1000}, Floats(1000, 1))});
    world.run("step", {v, value_of<float>({1000}, Floats(1000, 1))});
  };
  run();
  const size_t used = device::memory_info(0).used;
  for (int i = 0; i < 1000; ++i) run();
  EXPECT_EQ(device::memory_info(0).used, used);
}

}  // namespace
}  // namespace npu::graph
