// SPDX-License-Identifier: Apache-2.0
#include "graph/import/tensorflow/frozen.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/graph_fixture.h"
#include "graph/import/tensorflow/dataflow/frame_fixture.h"
#include "graph/import/tensorflow/signatures.h"
#include "graph/ir/verify.h"
#include "graph/run/executable.h"
#include "graph/run/library.h"

namespace npu::graph::tensorflow {
namespace {

using Floats = std::vector<float>;

std::string shape_value(const std::vector<int64_t>& dims) {
  return message([&](auto& w) { w.add_message(field::kShape, shape(dims)); });
}
const Attrs kOfFloat = {{"T", type_value(kFloat)}};

/// relu(x · x) and x + x, the second read by nobody.
std::string example() {
  return graph_def({node("x", "Placeholder", {}, {{"dtype", type_value(kFloat)}, {"shape", shape_value({-1, 2})}}),
                    node("square", "Mul", {"x", "x"}, kOfFloat), node("top", "Relu", {"square"}, kOfFloat),
                    node("twice", "AddV2", {"x", "x"}, kOfFloat)});
}

std::string refusal(const std::string& bytes, const ImportOptions& options = {}) {
  try {
    read_frozen(bytes, options);
  } catch (const Error& e) {
    return e.message();
  }
  return "accepted";
}

TEST(Frozen, PlaceholdersAreInputsAndWhatNobodyReadsIsAResult) {
  const Imported model = read_frozen(example());
  const Function& f = model.program.get(model.function);
  verify(f, model.program);
  ASSERT_EQ(f.arguments.size(), 1u);
  EXPECT_EQ(f.arguments[0].name, "x");
  EXPECT_EQ(to_string(f.arguments[0].value.shape), "[?, 2]");
  ASSERT_EQ(f.results.size(), 2u);
  EXPECT_EQ(f.results[0].name, "top");
  Library library(0);
  library.add(model.program);
  const auto results = library.get(model.function)->run({value_of<float>({1, 2}, {-3, 4})});
  EXPECT_EQ(numbers_of<float>(results[0]), (Floats{9, 16}));
  EXPECT_EQ(numbers_of<float>(results[1]), (Floats{-6, 8}));
}

TEST(Frozen, ShapesAndResultsCanBeAskedFor) {
  const Imported model = read_frozen(example(), {.input_shapes = {{"x", {5, 2}}}, .out_nodes = {"square:0"}});
  const Function& f = model.program.get(model.function);
  EXPECT_EQ(to_string(f.arguments[0].value.shape), "[5, 2]");
  ASSERT_EQ(f.results.size(), 1u);
  EXPECT_EQ(f.results[0].name, "square:0");
}

TEST(Frozen, WhatDoesNotFitIsNamed) {
  EXPECT_EQ(refusal(example(), {.input_shapes = {{"y", {5, 2}}}}),
            "a shape is given for input 'y', which the graph does not have");
  EXPECT_EQ(refusal(example(), {.input_shapes = {{"x", {5}}}}),
            "input 'x' is [?, 2]; the shape 5 given for it has another rank");
  EXPECT_EQ(refusal(example(), {.out_nodes = {"nowhere:0"}}),
            "out_nodes names 'nowhere:0', which the graph does not have");
  EXPECT_NE(refusal(graph_def({node("a", "Entangle", {}, kOfFloat), node("b", "Quantum", {}, {})}))
                .find("Entangle (node a), Quantum (node b)"),
            std::string::npos);
  EXPECT_NE(refusal(example().substr(0, 40)).find("cut off or damaged"), std::string::npos);
}

/// `example` with functions: `quantum`, which holds an operator that nobody knows, and one that calls it.
std::string with_functions(const std::vector<std::string>& nodes) {
  const std::string quantum = function_def({signature("quantum", {formal("a", kFloat)}, {formal("b", kFloat)}),
                                            {node("q", "Quantum", {"a"})},
                                            {{"b", "q:b:0"}}});
  const std::string caller = function_def(
      {signature("caller", {formal("a", kFloat)}, {formal("b", kFloat)}),
       {node("c", "PartitionedCall", {"a"},
             {{"f", function_value("quantum")}, {"Tin", types_value({kFloat})}, {"Tout", types_value({kFloat})}})},
       {{"b", "c:output:0"}}});
  std::string graph = example();
  for (const std::string& one : nodes) graph += message([&](auto& w) { w.add_message(field::kNode, one); });
  return graph + message([&](auto& w) {
           w.add_message(field::kLibrary, message([&](auto& l) {
                           l.add_message(field::kFunction, quantum), l.add_message(field::kFunction, caller);
                         }));
         });
}

TEST(Frozen, FunctionsThatNothingCallsMayHoldAnything) {
  const Imported model = read_frozen(with_functions({}));
  EXPECT_EQ(model.program.functions.size(), 1u);
  const std::string call =
      node("call", "PartitionedCall", {"top"},
           {{"f", function_value("caller")}, {"Tin", types_value({kFloat})}, {"Tout", types_value({kFloat})}});
  EXPECT_NE(refusal(with_functions({call})).find("not built: Quantum (node q)"), std::string::npos);
  EXPECT_NE(refusal(with_functions({node("call", "caller", {"top"})})).find("Quantum (node q)"), std::string::npos);
}

TEST(Frozen, TheGraphCanEndBeforeWhatIsNotKnown) {
  const std::string graph =
      with_functions({node("end", "Quantum", {"top"}), node("z", "Placeholder", {}, {{"dtype", type_value(kFloat)}})});
  EXPECT_NE(refusal(graph).find("not built: Quantum (node end)"), std::string::npos);
  const Imported model = read_frozen(graph, {.out_nodes = {"top"}});
  const Function& f = model.program.get(model.function);
  verify(f, model.program);
  EXPECT_EQ(f.results.size(), 1u);
  EXPECT_EQ(f.arguments.size(), 2u) << "inputs stay inputs";
  EXPECT_EQ(f.find("twice"), -1);
}

float run(const Imported& model, float x, float end) {
  verify(model.program);
  Library library(0);
  library.add(model.program);
  const auto results = library.get(model.function)->run({value_of<float>({}, {x}), value_of<float>({}, {end})});
  return numbers_of<float>(results.front()).front();
}

TEST(Frozen, LoopsAndBranchesOfDataflowGiveWhatTheyCompute) {
  const Imported loop = read_frozen(graph_def(loop_graph())), branch = read_frozen(graph_def(branch_graph()));
  for (const Imported* model : {&loop, &branch}) {
    const Function& f = model->program.get(model->function);
    ASSERT_EQ(f.results.size(), 1u) << "what a loop leaves unread is no result";
    EXPECT_EQ(f.results[0].name, "y");
    EXPECT_EQ(f.arguments[1].name, "end");
    EXPECT_EQ(to_string(f.arguments[1].value.shape), "[]");
  }
  EXPECT_EQ(run(loop, 1, 10), 17);
  EXPECT_EQ(run(loop, 20, 10), 40);
  EXPECT_EQ(run(branch, 3, 10), 15);
  EXPECT_EQ(run(branch, 20, 10), 0);
}

TEST(Frozen, ValuesThatAlwaysComeKeepTheirNames) {
  const Imported loop = read_frozen(graph_def(loop_graph()), {.out_nodes = {"while/Exit:0"}});
  EXPECT_EQ(run(loop, 1, 10), 16);
  const Function& f = loop.program.get(loop.function);
  EXPECT_EQ(loop.values.at("while/Exit:0"), f.results[0].value);
  EXPECT_EQ(loop.values.at("x:0"), (Edge{f.arguments[0].node, 0}));
  EXPECT_EQ(loop.nodes.count("while/Exit"), 1u);
  EXPECT_EQ(loop.values.count("while/add:0") + loop.nodes.count("while/add"), 0u);
  const Imported branch = read_frozen(graph_def(branch_graph()), {.out_nodes = {"cond/Merge"}});
  EXPECT_EQ(run(branch, 20, 10), -20);
  EXPECT_EQ(branch.values.at("cond/Merge:0"), branch.program.get(branch.function).results[0].value);
  EXPECT_EQ(branch.values.count("cond/Neg:0") + branch.values.count("cond/while/Exit:0"), 0u);
}

TEST(Frozen, ValuesThatMayNotComeAreNoResults) {
  const auto said = [](const std::vector<std::string>& nodes, const std::string& asked) {
    return refusal(graph_def(nodes), {.out_nodes = {"y", asked}});
  };
  for (const std::string& one : {said(loop_graph(), "while/add"), said(branch_graph(), "cond/Neg:0")})
    EXPECT_NE(one.find("may not come: it is inside of a loop, or on one side of a condition"), std::string::npos)
        << one;
}

TEST(Frozen, InputsThatLoweringLeftOverAreNone) {
  std::vector<std::string> nodes = loop_graph();
  nodes.push_back(float_placeholder("unused_control_flow_input_3", {}));
  const Imported model = read_frozen(graph_def(nodes));
  EXPECT_EQ(model.program.get(model.function).arguments.size(), 2u);
  nodes.push_back(node("reads", "Neg", {"unused_control_flow_input_3"}, kFloats));
  const Imported read = read_frozen(graph_def(nodes));
  EXPECT_EQ(read.program.get(read.function).arguments.size(), 3u);
}

TEST(Frozen, CirclesThatAreNoLoopsAreRefused) {
  const auto said = [](const std::vector<std::string>& more) {
    std::vector<std::string> nodes = {float_placeholder("x", {})};
    nodes.insert(nodes.end(), more.begin(), more.end());
    return refusal(graph_def(nodes));
  };
  EXPECT_EQ(said({merge("m", "x", "n"), node("n", "NextIteration", {"m"}, kFloats)}),
            "node m (Merge) belongs to a loop, and nothing enters it");
  EXPECT_NE(said({enter("e", "x", "f"), node("n", "NextIteration", {"e"}, kFloats), merge("m", "n", "n")})
                .find("node m: it takes two values of the turn before"),
            std::string::npos);
  EXPECT_NE(said({node("a", "AddV2", {"x", "b"}, kFloats), node("b", "Neg", {"a"}, kFloats)}).find("depends on itself"),
            std::string::npos);
}

TEST(Frozen, VariablesAreRefusedWithTheWay) {
  const auto type = [](int number) {
    return std::vector<std::pair<std::string, std::string>>{{"dtype", type_value(number)}};
  };
  const std::string x = node("x", "Placeholder", {}, type(kFloat)),
                    handed = node("v", "Placeholder", {}, type(kResourceType)),
                    own = node("v", "VarHandleOp", {}, type(kFloat)),
                    read = node("r", "ReadVariableOp", {"v"}, type(kFloat));
  for (const std::string& variable : {handed, own}) {
    const std::string said = refusal(with_functions({x, variable, read}));
    EXPECT_NE(said.find("(node v) stands for a variable; freeze variables into constants"), std::string::npos) << said;
  }
}

TEST(Frozen, DefaultsComeFromTheTable) {
  const Signature* conv = known_operators().find("Conv2D");
  ASSERT_NE(conv, nullptr);
  EXPECT_EQ(conv->inputs.size(), 2u);
  EXPECT_EQ(conv->inputs[1].type_attr, "T");
  EXPECT_EQ(conv->defaults.count("data_format"), 1u);
  const Signature* concat = known_operators().find("ConcatV2");
  EXPECT_EQ(concat->inputs[0].number_attr, "N");
  EXPECT_TRUE(known_operators().find("ReadVariableOp")->stateful);
}

}  // namespace
}  // namespace npu::graph::tensorflow
