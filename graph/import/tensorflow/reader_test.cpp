// SPDX-License-Identifier: Apache-2.0
#include "graph/import/tensorflow/reader.h"

#include <gtest/gtest.h>

#include <random>

#include "graph/import/tensorflow/message_fixture.h"
#include "graph/ir/print.h"
#include "graph/ir/verify.h"

namespace npu::graph::tensorflow {
namespace {

const Catalogue& operators() {
  static const Catalogue catalogue{Bytes(test_operators())};
  return catalogue;
}

const Attrs kOfFloat = {{"T", type_value(kFloat)}};

/// step(x, v): splits x, multiplies the halves, adds the product to v. Its nodes stand in no order.
FunctionParts step() {
  return {signature("step", {formal("x", kFloat), formal("v", kResourceType)}, {formal("low", kFloat)}),
          {node("product", "MatMul", {"halves:output:0", "halves:output:1"},
                {{"T", type_value(kFloat)}, {"transpose_b", bool_value(true)}}),
           node("add", "AssignAddVariableOp", {"v", "product:product:0"}, {{"dtype", type_value(kFloat)}}),
           node("read", "ReadVariableOp", {"v", "^add"}, {{"dtype", type_value(kFloat)}}),
           node("halves", "Split", {"axis:output:0", "x"}, {{"T", type_value(kFloat)}, {"num_split", int_value(2)}}),
           node("axis", "Const", {}, {{"dtype", type_value(kInt32)}, {"value", message([](auto& w) {
                                                                        w.add_message(
                                                                            field::kTensor, message([](auto& t) {
                                                                              t.add_enum(field::kDType, kInt32);
                                                                            }));
                                                                      })}})},
          {{"low", "read:value:0"}},
          {"add"}};
}

std::string refusal(const FunctionParts& parts) {
  try {
    read_function(function_def(parts), operators());
  } catch (const Error& e) {
    return e.message();
  }
  return "accepted";
}

TEST(ReadFunction, NodesEdgesDefaultsAndOrder) {
  const auto f = read_function(function_def(step()), operators());
  verify(*f, {});
  EXPECT_EQ(to_text(*f),
            "function step(x: float32?, v: resource) -> (low: float32?)\n"
            "  %6 = Const() dtype=int32 value=int32[][0] : int32?  \"axis\"\n"
            "  %5 = Split(%6, %0) T=float32 num_split=2 : float32?, float32?  \"halves\"\n"
            "  %2 = MatMul(%5:0, %5:1) T=float32 transpose_a=false transpose_b=true : float32?  \"product\"\n"
            "  %3 = AssignAddVariableOp(%1, %2) dtype=float32 :   \"add\"\n"
            "  %4 = ReadVariableOp(%1) dtype=float32 after %3 : float32?  \"read\"\n"
            "  return %4 after %3\n");
  EXPECT_TRUE((*f)[f->find("read")].stateful);
  EXPECT_FALSE((*f)[f->find("product")].stateful);
  EXPECT_EQ((*f)[f->find("product")].attributes.entries().at("transpose_b").raw, bool_value(true));
}

TEST(ReadFunction, OutputsByName) {
  const auto f = read_function(
      function_def({signature("best", {formal("x", kFloat), formal("k", kInt32)}, {formal("where", kInt32)}),
                    {node("top", "TopKV2", {"x", "k"}, kOfFloat)},
                    {{"where", "top:indices:0"}}}),
      operators());
  EXPECT_EQ(f->results[0].value, (Edge{f->find("top"), 1}));
}

TEST(ReadFunction, AnOperatorMayBeAFunction) {
  Program program;
  program.add(read_function(function_def(step()), operators()));
  const auto f = read_function(
      function_def({signature("outer", {formal("x", kFloat), formal("v", kResourceType)}, {formal("y", kFloat)}),
                    {node("inner", "step", {"x", "v"})},
                    {{"y", "inner:low:0"}}}),
      operators(), program);
  program.add(f);
  verify(program);
  EXPECT_EQ((*f)[f->find("inner")].attributes.get<FunctionName>("f").name, "step");
}

TEST(ReadFunction, SaysWhichNodeIsWrong) {
  const std::string head = signature("bad", {formal("x", kFloat)}, {formal("y", kFloat)});
  const auto with = [&](const std::string& one, const std::string& result) {
    return refusal({head, {one}, {{"y", result}}});
  };
  const std::string same = node("same", "Identity", {"x"}, kOfFloat);
  EXPECT_EQ(with(same, "same:output:0"), "accepted");
  EXPECT_EQ(with(same, "same:output:1"),
            "function bad, node y: node same (Identity) has 1 outputs; number 1 is asked for");
  EXPECT_EQ(with(same, "same:product:0"), "function bad, node y: node same (Identity) has no output product");
  EXPECT_EQ(with(same, "other:output:0"), "function bad, node y: there is no node other");
  EXPECT_EQ(with(node("same", "Identity", {"x"}), "same:output:0"), "function bad, node same: attribute T is missing");
  EXPECT_EQ(with(node("same", "Sam", {"x"}), "same:output:0"),
            "function bad, node same: there is no operator or function Sam");
  EXPECT_EQ(with(node("x", "Identity", {"x"}, kOfFloat), "x"), "function bad, node x: two nodes have this name");
  EXPECT_EQ(with(node("same", "Identity", {"same:output:0"}, kOfFloat), "same:output:0"),
            "function bad: node same depends on itself");
  EXPECT_EQ(refusal({head, {same}, {}}), "function bad: result y comes from no node");
}

TEST(ReadGraph, ReadsTheLibraryAndAllNodes) {
  const std::string graph = message([](auto& w) {
    w.add_message(field::kNode, node("a", "Const", {}, {{"dtype", type_value(kFloat)}}));
    w.add_message(field::kNode, node("b", "AddV2", {"a", "a:0", "^a"}, kOfFloat));
    w.add_message(field::kLibrary, message([](auto& l) { l.add_message(field::kFunction, function_def(step())); }));
  });
  Program program;
  const auto f = read_graph(graph, "main", operators(), program);
  EXPECT_EQ(f->nodes.size(), 2u);
  EXPECT_EQ((*f)[1].inputs, (std::vector<Edge>{{0, 0}, {0, 0}}));
  EXPECT_EQ((*f)[1].after, std::vector<NodeId>{0});
  EXPECT_TRUE(program.functions.contains("step"));
}

// Whatever the bytes are, the reader answers with a function that holds together or with an Error.
TEST(ReadFunction, SurvivesDamagedBytes) {
  const std::string whole = function_def(step());
  std::mt19937 random(11);
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = whole.substr(0, i % 3 == 0 ? random() % whole.size() : whole.size());
    for (size_t k = random() % 4; k > 0 && !bytes.empty(); --k)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    try {
      const auto f = read_function(bytes, operators());
      verify(*f, {});
      to_graphviz(*f);
      ++accepted;
    } catch (const Error&) {
    }
  }
  EXPECT_GT(accepted, 100);
}

}  // namespace
}  // namespace npu::graph::tensorflow
