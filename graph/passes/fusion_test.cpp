// SPDX-License-Identifier: Apache-2.0
// Fusions as tables of graphs: what they take, what they leave and why; and that results are those of the parts.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/error.h"
#include "graph/dump/watched_library.h"
#include "graph/graph_fixture.h"
#include "graph/ir/node_error.h"
#include "graph/ir/print.h"
#include "graph/ir/verify.h"
#include "graph/passes/fusion_switch.h"
#include "graph/passes/pipeline.h"
#include "graph/run/executable.h"

namespace npu::graph {
namespace {

const ValueType kHandle = ValueType::resource();

std::string after(Function f, void (*fuse)(Function&, Program&, FusionCount&), FusionCount* count = nullptr) {
  Program none;
  FusionCount own;
  fuse(f, none, count == nullptr ? own : *count);
  verify(f, none);
  return to_text(f);
}

Edge update(TestFunction& t, const std::string& op, Edge handle, Edge value, std::vector<NodeId> after = {}) {
  return t.node(op, {handle, value}, {}, 0, std::move(after));
}

// ---- element-wise chains: the graph before in words, and the text of the graph after
struct Row {
  const char* what;
  void (*build)(TestFunction&);
  const char* text;
  int64_t effective;
};

const Row kRows[] = {
    {"a chain",
     [](TestFunction& t) {
       const Edge x = t.argument("x"), y = t.argument("y");
       t.result(t.node("Relu", {t.node("AddV2", {t.node("Mul", {x, y}), y})}));
     },
     "function f(x: float32?, y: float32?) -> (r: float32?)\n"
     "  %2 = _FusedElementwise(%0, %1) : float32?  \"n_Relu\" of Mul, AddV2, Relu\n"
     "  return %2\n",
     1},
    {"a value between that is used elsewhere leaves the node too",
     [](TestFunction& t) {
       const Edge x = t.argument("x"), product = t.node("Mul", {x, x});
       t.result(t.node("MatMul", {product, x})).result(t.node("Neg", {product}));
     },
     "function f(x: float32?) -> (r: float32?, r: float32?)\n"
     "  %2 = _FusedElementwise(%0) : float32?, float32?  \"n_Neg\" of Mul, Neg\n"
     "  %1 = MatMul(%2:0, %0) : float32?  \"n_MatMul\"\n"
     "  return %1, %2:1\n",
     1},
    {"what waits for a part and is waited for by another keeps them apart",
     [](TestFunction& t) {
       const Edge x = t.argument("x"), y = t.node("Exp", {x});
       t.result(t.node("ReluGrad", {t.node("MatMul", {y, x}), y}));
     },
     "function f(x: float32?) -> (r: float32?)\n"
     "  %1 = Exp(%0) : float32?  \"n_Exp\"\n"
     "  %2 = MatMul(%1, %0) : float32?  \"n_MatMul\"\n"
     "  %3 = ReluGrad(%2, %1) : float32?  \"n_ReluGrad\"\n"
     "  return %3\n",
     0},
    {"so does a control edge",
     [](TestFunction& t) {
       const Edge x = t.argument("x"), y = t.node("Exp", {x});
       const Edge print = t.node("Print", {y});
       t.result(t.node("Neg", {y}, ValueType::tensor(DType::kFloat), 1, {print.node}));
     },
     "function f(x: float32?) -> (r: float32?)\n"
     "  %1 = Exp(%0) : float32?  \"n_Exp\"\n"
     "  %2 = Print(%1) : float32?  \"n_Print\"\n"
     "  %3 = Neg(%1) after %2 : float32?  \"n_Neg\"\n"
     "  return %3\n",
     0},
    {"integers, and nodes on their own, stay",
     [](TestFunction& t) {
       const ValueType ints = ValueType::tensor(DType::kInt32);
       const Edge i = t.argument("i", ints), x = t.argument("x");
       t.result(t.node("Neg", {t.node("AddV2", {i, i}, ints)}, ints)).result(t.node("Exp", {x}));
     },
     "function f(i: int32?, x: float32?) -> (r: int32?, r: float32?)\n"
     "  %2 = AddV2(%0, %0) : int32?  \"n_AddV2\"\n"
     "  %3 = Neg(%2) : int32?  \"n_Neg\"\n"
     "  %4 = Exp(%1) : float32?  \"n_Exp\"\n"
     "  return %3, %4\n",
     0},
};

TEST(FuseElementwise, BeforeAndAfter) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.what);
    TestFunction t("f");
    row.build(t);
    FusionCount count;
    EXPECT_EQ(after(*t.function(), fuse_elementwise, &count), row.text);
    EXPECT_EQ(count.effective, row.effective);
  }
}

/// One step of gradient descent with momentum, as Keras writes it, on two variables that share the rate.
TestFunction momentum() {
  TestFunction t("step");
  const Edge rate = t.argument("rate");
  for (int i = 0; i < 2; ++i) {
    const Edge v = t.argument("v", kHandle), m = t.argument("m", kHandle), g = t.argument("g");
    const Edge scaled = t.node("Mul", {t.node("Neg", {rate}), g});
    const Edge read = t.node("ReadVariableOp", {m});
    const Edge sum = t.node("AddV2", {scaled, t.node("Mul", {read, t.constant<float>({}, {0.9f})})});
    const Edge write = update(t, "AssignVariableOp", m, sum, {read.node});
    const Edge again = t.node("ReadVariableOp", {m}, ValueType::tensor(DType::kFloat), 1, {write.node});
    t.must_run(update(t, "AssignAddVariableOp", v, again)).must_run(write);
  }
  return t;
}

TEST(FuseVariableUpdates, AllVariablesInOneNode) {
  const TestFunction t = momentum();
  FusionCount count;
  const std::string text = after(*t.function(), fuse_variable_updates, &count);
  EXPECT_EQ(count.effective, 2);
  EXPECT_NE(text.find("of Neg, Mul, ReadVariableOp, Mul, AddV2, AssignVariableOp, ReadVariableOp, AssignAddVariableOp, "
                      "Neg, Mul, ReadVariableOp, Mul, AddV2, AssignVariableOp, ReadVariableOp, AssignAddVariableOp\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("ReadVariableOp("), std::string::npos) << text;
}

TEST(FuseVariableUpdates, NoReadMovesOverAWrite) {
  TestFunction t("f");
  const Edge v = t.argument("v", kHandle), x = t.argument("x");
  const Edge read = t.node("ReadVariableOp", {v});
  // A product of what was read comes back into the update: it has to run between them.
  const Edge between = t.node("MatMul", {read, x});
  const Edge sum = t.node("AddV2", {t.node("Mul", {read, x}), between});
  t.must_run(update(t, "AssignVariableOp", v, sum, {read.node}));
  const std::string before = to_text(*t.function());
  FusionCount count;
  const std::string text = after(*t.function(), fuse_variable_updates, &count);
  // The read stays outside, in front; what only the update uses goes with it.
  EXPECT_NE(text.find("= ReadVariableOp("), std::string::npos) << text;
  EXPECT_LT(text.find("ReadVariableOp"), text.find("MatMul"));
  EXPECT_LT(text.find("MatMul"), text.find("_FusedVariableUpdate"));
}

TEST(FuseVariableUpdates, WhatAnotherWriteStandsInIsLeft) {
  TestFunction t("f");
  const Edge v = t.argument("v", kHandle), x = t.argument("x"), i = t.argument("i", ValueType::tensor(DType::kInt32));
  const Edge first = update(t, "AssignAddVariableOp", v, t.node("Neg", {x}));
  Node scatter;
  scatter.name = "scatter", scatter.op = "ResourceScatterAdd", scatter.stateful = true;
  scatter.inputs = {v, i, x}, scatter.after = {first.node};
  const NodeId between = t.function()->add(std::move(scatter));
  t.must_run(update(t, "AssignSubVariableOp", v, t.node("Exp", {x}), {between}));
  FusionCount count;
  const std::string text = after(*t.function(), fuse_variable_updates, &count);
  EXPECT_EQ(count.effective, 0) << text;
  EXPECT_EQ(count.declined.count("something between the read of a variable and its update is not element-wise"), 1u);
  EXPECT_EQ(text.find("_FusedVariableUpdate"), std::string::npos) << text;
}

// ---- loops
struct Loop {
  Program program;
  std::shared_ptr<Function> outer;
};

/// i, x, y = i + 1, x + x, y · x, while i < 3; only some results are used.
Loop loop(std::vector<int32_t> used) {
  const ValueType floats = ValueType::tensor(DType::kFloat);
  TestFunction condition("condition"), body("body"), outer("outer");
  condition.argument("i"), condition.argument("x"), condition.argument("y");
  condition.result(
      condition.node("Less", {{0, 0}, condition.constant<float>({}, {3})}, ValueType::tensor(DType::kBool)));
  const Edge i = body.argument("i"), x = body.argument("x"), y = body.argument("y");
  body.result(body.node("AddV2", {i, body.constant<float>({}, {1})}));
  body.result(body.node("AddV2", {x, x})).result(body.node("Mul", {y, x}));
  Loop out;
  out.program.add(condition.function());
  out.program.add(body.function());
  const Edge a = outer.argument("a"), b = outer.argument("b"), c = outer.argument("c");
  const Edge loop = outer.node("While", {a, b, c}, floats, 3);
  outer.with(loop, "cond", FunctionName{"condition"}).with(loop, "body", FunctionName{"body"});
  for (const int32_t output : used) outer.result({loop.node, output});
  out.outer = outer.function();
  return out;
}

TEST(TrimLoops, WhatDecidesNothingStaysAsItComesIn) {
  Loop made = loop({1});
  FusionCount count;
  trim_loops(*made.outer, made.program, count);
  verify(*made.outer, made.program);
  EXPECT_EQ(count.effective, 1);
  const Function& body = made.program.get("body#without_2");
  EXPECT_EQ(body.results[2].value, (Edge{body.arguments[2].node, 0}));
  EXPECT_NE(body.results[1].value, (Edge{body.arguments[1].node, 0}));
  EXPECT_NE(body.results[0].value, (Edge{body.arguments[0].node, 0})) << "the condition reads it";
}

TEST(TrimLoops, WhatAUsedResultIsMadeOfIsComputed) {
  Loop made = loop({2});
  FusionCount count;
  trim_loops(*made.outer, made.program, count);
  EXPECT_EQ(count.effective, 0);
  EXPECT_EQ(made.program.functions.size(), 2u);
}

TEST(TrimLoops, ResultsAreThoseOfTheWholeLoop) {
  for (const bool trim : {false, true}) {
    Loop made = loop({1});
    WatchedLibrary library(0);
    if (!trim) library.switch_off({"trim_loops"});
    made.program.add(made.outer);
    library.add(made.program);
    const auto one = [](float v) { return value_of<float>({}, {v}); };
    const auto got = library.get("outer")->run({one(0), one(1), one(5)});
    EXPECT_EQ(numbers_of<float>(got[0]), std::vector<float>{8});
  }
}

// ---- the same bits with and without
std::vector<Value> run(const TestFunction& t, std::vector<Value> arguments, std::vector<std::string> off) {
  WatchedLibrary library(0);
  library.switch_off(std::move(off));
  Program program;
  program.add(t.function());
  library.add(program);
  return library.get(t.function()->name)->run(std::move(arguments));
}

std::vector<float> wave(size_t count, float phase) {
  std::vector<float> out(count);
  for (size_t i = 0; i < count; ++i) out[i] = std::sin(static_cast<float>(i) * 0.37f + phase) * 3;
  return out;
}

TEST(Fused, ElementsBroadcastAndRoundAsTheParts) {
  for (const DType dtype : {DType::kFloat, DType::kHalf}) {
    TestFunction t("f");
    const ValueType type = ValueType::tensor(dtype);
    const Edge x = t.argument("x"), row = t.argument("row"), column = t.argument("column"),
               number = t.argument("number");
    const auto narrow = [&](Edge e) {
      if (dtype == DType::kFloat) return e;
      const Edge cast = t.node("Cast", {e}, type);
      t.with(cast, "DstT", type);
      return cast;
    };
    const Edge a = narrow(x), small = t.node("Tanh", {t.node("Mul", {narrow(column), narrow(number)}, type)}, type);
    const Edge sum = t.node("AddV2", {t.node("Mul", {a, small}, type), narrow(row)}, type);
    const Edge positive = t.node("Greater", {sum, narrow(number)}, ValueType::tensor(DType::kBool));
    const Edge chosen =
        t.node("SelectV2", {positive, t.node("Sigmoid", {sum}, type), t.node("Square", {sum}, type)}, type);
    const Edge biased = t.node("BiasAdd", {t.node("AddN", {chosen, sum, a}, type), narrow(row)}, type);
    t.result(t.node("Relu", {biased}, type)).result(small).result(positive);
    std::vector<std::vector<Value>> got;
    for (const bool fuse : {true, false})
      got.push_back(run(t,
                        {value_of<float>({37, 300}, wave(37 * 300, 0)), value_of<float>({300}, wave(300, 1)),
                         value_of<float>({37, 1}, wave(37, 2)), value_of<float>({}, {0.7f})},
                        fuse ? std::vector<std::string>{} : std::vector<std::string>{"elementwise"}));
    for (size_t i = 0; i < got[0].size(); ++i) {
      const Tensor &mine = got[0][i].tensor, &theirs = got[1][i].tensor;
      ASSERT_EQ(mine.shape, theirs.shape);
      ASSERT_EQ(mine.dtype, theirs.dtype);
      EXPECT_EQ(std::memcmp(mine.bytes(), theirs.bytes(), static_cast<size_t>(bytes_of(mine))), 0)
          << "result " << i << " of " << name_of(dtype);
    }
  }
}

TEST(Fused, AWrongShapeIsToldOfThePart) {
  TestFunction t("f");
  const Edge x = t.argument("x"), y = t.argument("y");
  t.result(t.node("Neg", {t.node("Mul", {x, y})}));
  try {
    run(t, {value_of<float>({2}, {1, 2}), value_of<float>({3}, {1, 2, 3})}, {});
    FAIL();
  } catch (const NodeError& e) {
    EXPECT_EQ(e.node(), "n_Mul");
  }
}

Value variable(const std::vector<float>& numbers) {
  auto variable = std::make_shared<Variable>(0);
  variable->assign(value_of<float>({static_cast<int64_t>(numbers.size())}, numbers));
  return {{}, nullptr, variable};
}

std::vector<float> numbers_in(const Value& value) {
  return numbers_of<float>(dynamic_cast<const Variable&>(*value.object).read());
}

/// As damaged files have them: a check, and no read of what is not there.
TEST(Fused, APartWithoutInputsIsRefused) {
  TestFunction t("f");
  t.result(t.node("Neg", {t.node("Exp", {t.argument("x")})}));
  Program program;
  FusionCount count;
  fuse_elementwise(*t.function(), program, count);
  ASSERT_EQ(count.effective, 1);
  for (Node& node : t.function()->nodes) {
    if (!node.parts) continue;
    auto parts = std::make_shared<Function>(*node.parts);
    for (Node& part : parts->nodes) part.inputs.clear();
    node.parts = parts;
  }
  program.add(t.function());
  Library library(0);
  library.add_rewritten(program);
  EXPECT_THROW(library.get("f", Role::kRoot)->run({value_of<float>({2}, {1, 2})}), Error);
}

TEST(Fused, AStepWritesInPlaceAndReadersKeepWhatTheyRead) {
  std::vector<std::vector<float>> ends;
  for (const bool fuse : {true, false}) {
    const TestFunction t = momentum();
    std::vector<Value> arguments{value_of<float>({}, {0.1f})};
    for (size_t count : {70000, 3}) {
      arguments.push_back(variable(wave(count, 0)));
      arguments.push_back(variable(wave(count, 1)));
      arguments.push_back(value_of<float>({static_cast<int64_t>(count)}, wave(count, 2)));
    }
    const Value held = dynamic_cast<const Variable&>(*arguments[1].object).read();
    for (int i = 0; i < 3; ++i)
      run(t, arguments, fuse ? std::vector<std::string>{} : std::vector<std::string>{"variable_update", "elementwise"});
    EXPECT_EQ(numbers_of<float>(held), wave(70000, 0));
    std::vector<float> all;
    for (const size_t i : {1, 2, 4, 5})
      for (const float number : numbers_in(arguments[i])) all.push_back(number);
    ends.push_back(std::move(all));
  }
  EXPECT_EQ(ends[0], ends[1]);
}

TEST(Fused, AVariableWithoutValueIsToldOfTheRead) {
  const TestFunction t = momentum();
  const auto g = [] { return value_of<float>({2}, {1, 2}); };
  const auto fresh = [] { return Value{{}, nullptr, std::make_shared<Variable>(0)}; };
  try {
    run(t, {value_of<float>({}, {0.1f}), fresh(), fresh(), g(), fresh(), fresh(), g()}, {});
    FAIL();
  } catch (const NodeError& e) {
    EXPECT_EQ(e.node(), "n_ReadVariableOp");
    EXPECT_NE(e.plain().find("read before anything was assigned"), std::string::npos) << e.plain();
  }
}

// ---- the switch file
using Names = std::vector<std::string>;

/// All fusions but this one and those of this group.
Names fusions_but(std::string_view name, FusionGroup group = FusionGroup::kNone) {
  Names out;
  for (const Pass& pass : all_passes())
    if (pass.group != FusionGroup::kNone && pass.group != group && pass.name != name) out.emplace_back(pass.name);
  return out;
}

TEST(FusionSwitch, BothFormsAliasesAndAll) {
  EXPECT_EQ(read_fusion_switch("").off, Names{});
  EXPECT_EQ(read_fusion_switch("elementwise:off\n").off, Names{"elementwise"});
  EXPECT_EQ(read_fusion_switch(" TbeMultiOutputFusionPass : off \r\n\n# a note\ntrim_loops:on").off,
            Names{"elementwise"});
  EXPECT_EQ(read_fusion_switch("ALL:off").off, fusions_but(""));
  EXPECT_EQ(read_fusion_switch("adam_apply_one:on\nALL:off").off, fusions_but("variable_update"));
  EXPECT_EQ(read_fusion_switch("MatMulBiasAddFusionPass:off").off, Names{"matmul_epilogue"});
  EXPECT_EQ(read_fusion_switch("AABiasaddConvFusion:off").off, Names{"conv_epilogue"});
  const char* json =
      R"({"Switch": {"GraphFusion": {"ALL": "off", "variable_update": "on"}, "UBFusion": {"ALL": "on"}}})";
  EXPECT_EQ(read_fusion_switch(json).off, fusions_but("variable_update", FusionGroup::kBuffer));
  // As the vendor's guide prints it: a comma after the last pass, here with a remark.
  EXPECT_EQ(read_fusion_switch(
                "{\"Switch\": {\n\"GraphFusion\": {\n\"ALL\": \"on\",\n\"matmul_epilogue\": \"off\", // mine\n}}}")
                .off,
            Names{"matmul_epilogue"});
  EXPECT_EQ(read_fusion_switch(R"({"Switch": {"TbeEltwiseFusionPass": "off"}, "UBFusion": {"ALL": "on"}})").off,
            Names{"elementwise"});
  const FusionSwitch some = read_fusion_switch("SoftmaxFusionPass:off\ndead_nodes:off\nSoftmaxFusionPass:on");
  EXPECT_EQ(some.off, Names{});
  EXPECT_EQ(some.unknown, (Names{"SoftmaxFusionPass", "dead_nodes"}));
}

TEST(FusionSwitch, MalformedTextsAreToldWithTheirPlace) {
  const auto refusal = [](std::string_view text) {
    try {
      read_fusion_switch(text);
    } catch (const Error& e) {
      return e.message();
    }
    return std::string();
  };
  EXPECT_EQ(refusal("elementwise:off\n  trim_loops\n"),
            "line 2, column 3: a line names a pass and says on or off, as in elementwise:off");
  EXPECT_EQ(refusal("elementwise:maybe"), "line 1, column 13: elementwise is 'maybe'; it is on or off");
  EXPECT_EQ(refusal(":off"), "line 1, column 1: there is no name before the colon");
  EXPECT_TRUE(refusal("{\"Switch\": {\n  \"ALL\" \"off\"}}").starts_with("line 2, column "))
      << refusal("{\"Switch\": {\n  \"ALL\" \"off\"}}");
  EXPECT_EQ(refusal("\n {}"), "line 2, column 2: there is no member \"Switch\"");
  EXPECT_EQ(refusal("{\"Switch\":\n {\"ALL\": 1}}"), "line 2, column 3: ALL is 1; it is \"on\" or \"off\"");
  EXPECT_EQ(refusal("{\"Switch\": {\"Other\": {}}}"),
            "line 1, column 13: Other is no group; there are GraphFusion and UBFusion");
}

TEST(FusionReport, CountsAndReasonsAreTold) {
  TestFunction t("f");
  const Edge x = t.argument("x"), y = t.node("Exp", {x});
  const Edge z = t.node("ReluGrad", {t.node("MatMul", {y, x}), y});
  t.result(t.node("Neg", {t.node("Mul", {z, x})}));
  WatchedLibrary library(0);
  Program program;
  program.add(t.function());
  library.add(program);
  library.get("f", Role::kRoot)->run({value_of<float>({2, 2}, {1, 2, 3, 4})});
  EXPECT_NE(library.report().json().find(
                R"("fusions":[{"declined":{"something between them is not element-wise":1},"effective":1,"matched":2,)"
                R"("pass":"elementwise"},{"declined":{},"effective":1,"matched":1,"pass":"matmul_epilogue"}])"),
            std::string::npos)
      << library.report().json();
  EXPECT_NE(library.report().text().find("fused by elementwise: 1 of 2 matches"), std::string::npos);
  EXPECT_NE(library.report().fusion_json().find("\"effect_times\": \"1\""), std::string::npos);
}

}  // namespace
}  // namespace npu::graph
