// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "graph/import/tensorflow/dialect.h"
#include "graph/ir/print.h"
#include "graph/ir/verify.h"
#include "graph/passes/pipeline.h"

namespace npu::graph {
namespace {

const Output kFloats{ValueType::tensor(DType::kFloat), PartialShape{Dims{4}}};
const Output kHandle{ValueType::resource(), {}};

NodeId add(Function& f, std::string name, std::string op, std::vector<Edge> inputs, std::vector<NodeId> after = {},
           bool stateful = false) {
  Node node;
  node.name = std::move(name), node.op = std::move(op), node.inputs = std::move(inputs), node.after = std::move(after);
  node.kind = f.dialect->kind_of(node.op), node.stateful = stateful;
  if (node.op != "AssignAddVariableOp") node.outputs = {kFloats};
  return f.add(std::move(node));
}

NodeId add_call(Function& f, std::string name, std::string callee, std::vector<Edge> inputs) {
  const NodeId id = add(f, std::move(name), "StatefulPartitionedCall", std::move(inputs), {}, true);
  f[id].attributes.set("f", FunctionName{std::move(callee)});
  return id;
}

/// bump(v, x): v += x; gives x + x.
std::shared_ptr<Function> bump() {
  auto f = std::make_shared<Function>("bump", tensorflow::dialect());
  const NodeId v = f->add_argument("v", kHandle), x = f->add_argument("x", kFloats);
  const NodeId assign = add(*f, "assign", "AssignAddVariableOp", {{v}, {x}}, {}, true);
  f->results.push_back({"twice", {add(*f, "sum", "AddV2", {{x}, {x}}), 0}});
  f->control_results = {assign};
  return f;
}

TEST(DeadNodes, OnlyWhatResultsNeedStays) {
  Function f("f", tensorflow::dialect());
  const NodeId x = f.add_argument("x", kFloats);
  add(f, "unused", "Exp", {{x}});
  add(f, "forgotten", "AssignAddVariableOp", {{x}, {x}}, {}, true);
  const NodeId first = add(f, "first", "Print", {{x}}, {}, true);
  f.results.push_back({"y", {add(f, "y", "Neg", {{x}}, {first}), 0}});
  EXPECT_TRUE(drop_dead_nodes(f, {}));
  EXPECT_EQ(f.nodes.size(), 3u);
  EXPECT_EQ(f.find("unused"), -1);
  EXPECT_EQ(f[f.find("y")].after, std::vector<NodeId>{f.find("first")});
  EXPECT_FALSE(drop_dead_nodes(f, {}));
}

TEST(Inline, SideEffectsStayInOrder) {
  Program program;
  program.add(bump());
  Function f("outer", tensorflow::dialect());
  const NodeId v = f.add_argument("v", kHandle), x = f.add_argument("x", kFloats);
  const NodeId before = add(f, "before", "ReadVariableOp", {{v}}, {}, true);
  const NodeId call = add_call(f, "call", "bump", {{v}, {x}});
  f[call].after = {before};
  f.results.push_back({"read", {add(f, "after", "ReadVariableOp", {{v}}, {call}, true), 0}});
  f.results.push_back({"twice", {call, 0}});
  EXPECT_TRUE(inline_calls(f, program));
  verify(f, program);
  EXPECT_EQ(to_text(f),
            "function outer(v: resource, x: float32[4]) -> (read: float32[4], twice: float32[4])\n"
            "  %2 = ReadVariableOp(%0) : float32[4]  \"before\"\n"
            "  %4 = AssignAddVariableOp(%0, %1) after %2 :   \"call/assign\"\n"
            "  %5 = AddV2(%1, %1) : float32[4]  \"call/sum\"\n"
            "  %3 = ReadVariableOp(%0) after %4, %5 : float32[4]  \"after\"\n"
            "  return %3, %5 after %4\n");
  EXPECT_EQ(f[f.find("call/assign")].functions, std::vector<std::string>{"bump"});
}

TEST(Inline, RecursionEnds) {
  Program program;
  auto f = std::make_shared<Function>("loop", tensorflow::dialect());
  const NodeId x = f->add_argument("x", kFloats);
  f->results.push_back({"y", {add_call(*f, "again", "loop", {{x}}), 0}});
  program.add(f);
  Function outer("outer", tensorflow::dialect());
  const NodeId a = outer.add_argument("a", kFloats);
  outer.results.push_back({"y", {add_call(outer, "call", "loop", {{a}}), 0}});
  EXPECT_FALSE(inline_calls(*f, program));
  EXPECT_TRUE(inline_calls(outer, program));
  verify(outer, program);
  EXPECT_EQ(outer[outer.results[0].value.node].name, "call/again");
}

TEST(MergeReads, OnlyWhereNothingIsWrittenInBetween) {
  Function f("f", tensorflow::dialect());
  const NodeId v = f.add_argument("v", kHandle), x = f.add_argument("x", kFloats);
  const NodeId a = add(f, "a", "ReadVariableOp", {{v}}, {}, true), b = add(f, "b", "ReadVariableOp", {{v}}, {}, true);
  const NodeId write = add(f, "write", "AssignAddVariableOp", {{v}, {x}}, {a, b}, true);
  const NodeId c = add(f, "c", "ReadVariableOp", {{v}}, {write}, true);
  const NodeId d = add(f, "d", "ReadVariableOp", {{v}}, {write}, true);
  for (const NodeId id : {a, b, c, d}) f.results.push_back({f[id].name, {id, 0}});
  EXPECT_TRUE(merge_reads(f, {}));
  verify(f, {});
  EXPECT_EQ(to_text(f),
            "function f(v: resource, x: float32[4]) -> (a: float32[4], b: float32[4], c: float32[4], d: float32[4])\n"
            "  %2 = ReadVariableOp(%0) : float32[4]  \"a\"\n"
            "  %3 = AssignAddVariableOp(%0, %1) after %2 :   \"write\"\n"
            "  %4 = ReadVariableOp(%0) after %3 : float32[4]  \"c\"\n"
            "  return %2, %2, %4, %4\n");
  EXPECT_FALSE(merge_reads(f, {}));
}

TEST(MergeReads, AWriteInBetweenThatOnlyDataOrders) {
  Function f("f", tensorflow::dialect());
  const NodeId v = f.add_argument("v", kHandle);
  const NodeId a = add(f, "a", "ReadVariableOp", {{v}}, {}, true);
  const NodeId write = add(f, "write", "Scatter", {{v}, {a}}, {}, true);
  const NodeId b = add(f, "b", "ReadVariableOp", {{v}, {write}}, {}, true);
  for (const NodeId id : {a, b}) f.results.push_back({f[id].name, {id, 0}});
  EXPECT_FALSE(merge_reads(f, {}));
}

TEST(MergeEqual, StateAndAttributesCount) {
  Function f("f", tensorflow::dialect());
  const NodeId v = f.add_argument("v", kHandle), x = f.add_argument("x", kFloats);
  const NodeId a = add(f, "a", "Exp", {{x}}), b = add(f, "b", "Exp", {{x}}), c = add(f, "c", "Exp", {{x}});
  f[b].attributes.set("_origin", std::string("elsewhere"));
  f[c].attributes.set("fast", true);
  const NodeId r = add(f, "r", "ReadVariableOp", {{v}}, {}, true), s = add(f, "s", "ReadVariableOp", {{v}}, {}, true);
  for (const NodeId id : {a, b, c, r, s}) f.results.push_back({f[id].name, {id, 0}});
  EXPECT_TRUE(merge_equal_nodes(f, {}));
  EXPECT_EQ(f.nodes.size(), 6u);
  EXPECT_EQ(f.results[0].value, f.results[1].value);
  EXPECT_FALSE(merge_equal_nodes(f, {}));
}

TEST(MergeEqual, ConstantsByTheirBits) {
  Function f("f", tensorflow::dialect());
  const auto constant = [&](float value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    return f.add_constant("c", {ValueType::tensor(DType::kFloat),
                                {},
                                std::make_shared<const std::vector<std::byte>>(bytes, bytes + sizeof value),
                                nullptr});
  };
  for (const float value : {1.0f, 1.0f, -0.0f, 0.0f}) f.results.push_back({"r", {constant(value), 0}});
  merge_equal_nodes(f, {});
  EXPECT_EQ(f.nodes.size(), 3u);
}

TEST(Runner, TimesSkipsAndShowsEachStage) {
  Program program;
  program.add(bump());
  Function f("outer", tensorflow::dialect());
  const NodeId v = f.add_argument("v", kHandle), x = f.add_argument("x", kFloats);
  f.results.push_back({"y", {add_call(f, "call", "bump", {{v}, {x}}), 0}});
  std::vector<std::string> stages;
  const PassOptions options{{"merge_equal"},
                            [&](std::string_view stage, const Function&) { stages.emplace_back(stage); }};
  const auto reports = run_passes(f, program, options);
  EXPECT_EQ(stages, (std::vector<std::string>{"input", "inline"}));
  EXPECT_EQ(reports.size(), all_passes().size() - 1);
  try {
    run_passes(f, program, {{"fold"}, {}});
    FAIL();
  } catch (const Error& e) {
    std::string names;
    for (const Pass& pass : all_passes()) names += (names.empty() ? "" : ", ") + std::string(pass.name);
    EXPECT_EQ(e.message(), "there is no pass fold; there are " + names);
  }
}

}  // namespace
}  // namespace npu::graph
