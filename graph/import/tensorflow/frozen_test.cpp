// SPDX-License-Identifier: Apache-2.0
#include "graph/import/tensorflow/frozen.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/graph_fixture.h"
#include "graph/import/tensorflow/message_fixture.h"
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
std::string graph_def(const std::vector<std::string>& nodes) {
  return message([&](auto& w) {
    for (const std::string& one : nodes) w.add_message(field::kNode, one);
  });
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
  EXPECT_NE(refusal(graph_def({node("a", "Enter", {}, kOfFloat), node("b", "Quantum", {}, {})}))
                .find("Enter (node a), Quantum (node b)"),
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
