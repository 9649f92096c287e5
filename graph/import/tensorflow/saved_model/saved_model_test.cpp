// SPDX-License-Identifier: Apache-2.0
#include "graph/import/tensorflow/saved_model/saved_model.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/graph_fixture.h"
#include "graph/import/tensorflow/saved_model/saved_model_fixture.h"
#include "graph/ir/verify.h"
#include "graph/run/executable.h"
#include "graph/run/library.h"

namespace npu::graph::tensorflow {
namespace {

using Floats = std::vector<float>;

class SavedModel : public testing::Test {
 protected:
  void SetUp() override { folder_.write_bundle(example_values()); }

  Imported read(const std::string& bytes, ImportOptions options = {}) const {
    options.folder = folder_.path();
    Imported model = read_saved_model(bytes, options);
    verify(model.program);
    return model;
  }
  std::string refusal(const std::string& bytes, const ImportOptions& options = {}) const {
    try {
      read(bytes, options);
    } catch (const Error& e) {
      return e.message();
    }
    return "accepted";
  }
  void expect_refused(const std::string& bytes, std::string_view word, const ImportOptions& options = {}) const {
    const std::string said = refusal(bytes, options);
    EXPECT_NE(said.find(word), std::string::npos) << said;
  }
  static Floats run(const Imported& model, const std::vector<Value>& inputs) {
    Library library(0);
    library.add(model.program);
    return numbers_of<float>(library.get(model.function)->run(inputs)[0]);
  }
  const TestFolder folder_;
};

Value one_by_two() { return value_of<float>({1, 2}, {1, -1}); }

TEST_F(SavedModel, VariablesBecomeConstantsThroughFunctions) {
  const Imported model = read(example_model());
  const Function& f = model.program.get(model.function);
  ASSERT_EQ(f.arguments.size(), 2u);
  EXPECT_EQ(f.arguments[0].name, "i") << "in the order of names";
  EXPECT_EQ(f.arguments[1].name, "x");
  EXPECT_EQ(to_string(f.arguments[1].value.shape), "[?, 2]");
  EXPECT_EQ(f.results.at(0).name, "y");
  // x · w = [-2, -2], after relu 0; the row of b is the sum.
  EXPECT_EQ(run(model, {value_of<int32_t>({}, {1}), one_by_two()}), (Floats{30, 40}));
  EXPECT_EQ(run(model, {value_of<int32_t>({}, {2}), value_of<float>({1, 2}, {1, 1})}), (Floats{54, 66}));
  for (const auto& [name, function] : model.program.functions)
    for (const Node& node : function->nodes)
      for (const Output& output : node.outputs) EXPECT_TRUE(output.type.is_tensor()) << node.name;
  EXPECT_FALSE(model.program.functions.contains("restore"));
}

TEST_F(SavedModel, FilesAreToldFromGraphs) {
  EXPECT_TRUE(is_saved_model(example_model()));
  EXPECT_FALSE(is_saved_model(graph_def({variable_node("v", {1})})));
  EXPECT_FALSE(is_saved_model(std::string()));
}

TEST_F(SavedModel, ShapesResultsAndSignaturesAreChosen) {
  const TestSignature second = {
      "second", {{"z", endpoint("in_x:0", kFloat, {-1, 2})}}, {{"r", endpoint("r:0", kFloat, {})}}};
  const std::string bytes = example_model({.nodes = {float_node("r", "Relu", {"in_x"})}, .signatures = {second}});
  const Imported model = read(bytes, {.input_shapes = {{"z", {1, 2}}}, .signature = "second"});
  const Function& f = model.program.get(model.function);
  EXPECT_EQ(to_string(f.arguments.at(0).value.shape), "[1, 2]");
  EXPECT_EQ(run(model, {one_by_two()}), (Floats{1, 0}));
  EXPECT_EQ(model.program.functions.size(), 1u) << "nothing calls the others";
  const Imported inside = read(bytes, {.out_nodes = {"r", "y"}});
  EXPECT_EQ(inside.program.get(inside.function).results.at(0).name, "r");
  EXPECT_EQ(inside.program.get(inside.function).results.at(1).name, "y");
  expect_refused(bytes, "no signature 'third'; it has second, serving_default: choose", {.signature = "third"});
  expect_refused(bytes, "'nowhere' is no output", {.out_nodes = {"nowhere"}});
  expect_refused(bytes, "a shape is given for input 'q', which the signature does not have; it has i, x",
                 {.input_shapes = {{"q", {1}}}});
  expect_refused(bytes, "input 'x' is [?, 2]; the shape 3 given for it", {.input_shapes = {{"x", {3}}}});
}

TEST_F(SavedModel, GraphsOfTensorFlow1AreRead) {
  // Restored in the graph itself, and readers of `w` see its value and no handle.
  const std::string graph = graph_def({
      variable_node("w", {2}, "VariableV2"),
      float_node("w/read", "Identity", {"w"}),
      node("x", "Placeholder", {}, {{"dtype", type_value(kFloat)}}),
      float_node("y", "Mul", {"x", "w/read"}),
      strings_node("names", {"w"}),
      strings_node("slices", {""}),
      node("prefix", "Placeholder", {}, {{"dtype", type_value(kString)}}),
      node("restore", "RestoreV2", {"prefix", "names", "slices"}, {{"dtypes", types_value({kFloat})}}),
      float_node("assign", "Assign", {"w", "restore"}),
      node("all", "NoOp", {"^assign"}),
  });
  const TestSignature signature = {
      "predict", {{"x", endpoint("x:0", kFloat, {2})}}, {{"y", endpoint("y:0", kFloat, {2})}}};
  folder_.write_bundle({{"w", {kFloat, {2}, floats({3, 5})}}});
  const std::string bytes = saved_model({meta_graph(graph, {signature}, "all")});
  EXPECT_EQ(run(read(bytes), {value_of<float>({2}, {1, 2})}), (Floats{3, 10})) << "the only signature";
  folder_.write_bundle({{"w", {kInt32, {2}, floats({3, 5})}}});
  expect_refused(bytes, "variable w is of float32; its values are of int32");
}

TEST_F(SavedModel, InputsMayBeAnyNode) {
  const TestSignature late = {"late", {{"p", endpoint("r:0", kFloat, {1, 2})}}, {{"q", endpoint("q:0", kFloat, {})}}};
  const std::string bytes = example_model(
      {.nodes = {node("r", "ParseExample", {"in_x"}), float_node("q", "Neg", {"r"})}, .signatures = {late}});
  EXPECT_EQ(run(read(bytes, {.signature = "late"}), {one_by_two()}), (Floats{-1, 1}))
      << "what is before it is not read";
}

TEST_F(SavedModel, WhatDoesNotFitIsNamed) {
  expect_refused(
      example_model({.inner_nodes = {float_node("set", "AssignVariableOp", {"w", "read:value:0"}, "dtype")}}),
      "node set: AssignVariableOp is given the variable Variable; a model's variables are constants");
  expect_refused(example_model({.inner_nodes = {variable_node("own", {1})}}), "node own: a variable is made inside");
  expect_refused(
      example_model({.inner_nodes = {node("t", "HashTableV2", {})}}),
      "HashTableV2 (node t); of a SavedModel variables are read, tables, assets and other resources are not");
  expect_refused(example_model({.restored_as = ""}),
                 "variable Variable_1 is not among those that the SavedModel restores");
  expect_refused(example_model({.restored_as = "other"}), "has no variable other");
  expect_refused(saved_model({}), "holds no graph");
  const std::string graph = graph_def({});
  expect_refused(saved_model({meta_graph(graph, {}, "", {"train"}), meta_graph(graph, {}, "", {"serve", "tpu"})}),
                 "has 2 graphs, tagged train, serve+tpu, none of them for 'serve' alone");
  expect_refused(saved_model({meta_graph(graph, {}, "")}), "has no signature");
  expect_refused(example_model().substr(0, 300), "cut off or damaged");
  std::filesystem::remove_all(folder_.path() / "variables");
  expect_refused(example_model(), "variables.index: No such file or directory; copy the whole folder");
}

TEST_F(SavedModel, DamagedModelsAreRefusedOrRead) {
  const std::string whole = example_model();
  const auto index = folder_.index_and_shards(example_values());
  size_t refused = 0, accepted = 0;
  const auto rounds = static_cast<size_t>(number_of_variable("ANYNPU_FUZZ_ROUNDS", 400));
  for (size_t round = 0; round < rounds; ++round) {
    Random random(round);
    auto entries = index;
    std::string bytes = whole;
    if (round % 2 == 0) {
      bytes = damaged_often(random, whole);
      folder_.write("variables.index", table_of(index));
    } else {
      // Entries that say something else under a good checksum, and tables that are damaged themselves.
      auto one = entries.begin();
      std::advance(one, below(random, entries.size()));
      one->second = damaged_often(random, one->second);
      std::string table = table_of(entries);
      if (round % 4 == 1) table = damaged_bytes(random, table);
      folder_.write("variables.index", table);
    }
    try {
      run(read(bytes), {value_of<int32_t>({}, {1}), one_by_two()});
      ++accepted;
    } catch (const Error& e) {
      EXPECT_FALSE(e.message().empty());
      ++refused;
    } catch (const std::exception& e) {
      ADD_FAILURE() << "round " << round << ": " << e.what();
    }
  }
  EXPECT_GT(refused, 50u);
  EXPECT_GT(accepted, 10u);
}

}  // namespace
}  // namespace npu::graph::tensorflow
