// SPDX-License-Identifier: Apache-2.0
#include "graph/model/function_file.h"

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "graph/graph_fixture.h"
#include "graph/import/tensorflow/recorded_fixture.h"
#include "graph/ir/print.h"
#include "graph/ir/verify.h"
#include "graph/passes/pass.h"

namespace npu::graph::model {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string written(const std::vector<const Function*>& functions) {
  FunctionWriter writer;
  for (const Function* f : functions) writer.add(*f);
  return to_container(writer.sections());
}

std::vector<std::shared_ptr<Function>> read(const std::string& file) {
  return read_functions(Container(bytes_of(file)), tensorflow::dialect());
}

Literal numbers(std::vector<float> values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {ValueType::tensor(DType::kFloat),
          {static_cast<int64_t>(values.size())},
          std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end()),
          nullptr};
}

Literal strings(std::vector<std::string> values) {
  return {ValueType::tensor(DType::kString),
          {static_cast<int64_t>(values.size())},
          nullptr,
          std::make_shared<const std::vector<std::string>>(std::move(values))};
}

const PartialShape kPart{Dims{8, kUnknownDim}};

/// One of every kind of attribute, also with nothing in it.
std::vector<Attribute> every_kind() {
  return {std::monostate{},
          int64_t{-7},
          -0.0,
          true,
          std::string("a\0b", 3),
          ValueType::resource(),
          kPart,
          PartialShape::unknown(),
          PartialShape{Dims{}},
          numbers({1, 2.5F, -3}),
          numbers({}),
          strings({"x", "", "long enough to be kept elsewhere by a string"}),
          Literal{ValueType::tensor(DType::kHalf), {2}, nullptr, nullptr},
          FunctionName{"f"},
          std::vector<int64_t>{INT64_MIN, 0, INT64_MAX},
          std::vector<double>{1e300, -1e-300},
          std::vector<bool>{true, false, true},
          std::vector<std::string>{"", "b"},
          std::vector<ValueType>{ValueType::variant(), ValueType::tensor(DType::kBFloat16)},
          std::vector<PartialShape>{kPart, PartialShape::unknown()},
          std::vector<FunctionName>{{"g"}, {"h"}},
          std::vector<int64_t>{},
          std::vector<PartialShape>{}};
}

/// A function with all that one may have.
Function everything() {
  TestFunction t("f#variant");
  const Edge x = t.argument("x"), v = t.argument("v", ValueType::resource());
  const Edge c = t.constant<float>({3}, {1, 2, 3});
  const Edge sum = t.node("AddV2", {x, c}), read = t.node("ReadVariableOp", {v});
  const Edge host = t.node("NobodyKnows", {sum, read}, ValueType::variant(), 2, {read.node});
  t.result(sum).result({host.node, 1}).must_run(host);
  Function& f = *t.function();
  const std::vector<Attribute> kinds = every_kind();
  for (size_t i = 0; i < kinds.size(); ++i)
    f[sum.node].attributes.set("a" + std::to_string(i), kinds[i], i % 2 == 0 ? std::string("raw\0bytes", 9) : "");
  f[sum.node].outputs[0].shape = kPart;
  f[sum.node].functions = {"outer", "inner"};
  f[sum.node].calls = "call/";
  f[sum.node].client_name = "as the client calls it";
  TestFunction parts("parts");
  const Edge in = parts.argument("in");
  parts.result(parts.node("Relu", {in}));
  f[sum.node].parts = parts.function();
  return f;
}

void expect_same(const Attributes& a, const Attributes& b) {
  ASSERT_EQ(a.entries().size(), b.entries().size());
  for (const auto& [name, entry] : a.entries()) {
    const auto other = b.entries().find(name);
    ASSERT_NE(other, b.entries().end()) << name;
    EXPECT_EQ(entry.value, other->second.value) << name;
    EXPECT_EQ(entry.value.index(), other->second.value.index()) << name;
    EXPECT_EQ(entry.raw, other->second.raw) << name;
  }
}

void expect_same(const Function& a, const Function& b);

void expect_same(const Node& a, const Node& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.op, b.op);
  EXPECT_EQ(a.inputs, b.inputs);
  EXPECT_EQ(a.after, b.after);
  ASSERT_EQ(a.outputs.size(), b.outputs.size());
  for (size_t i = 0; i < a.outputs.size(); ++i) {
    EXPECT_EQ(a.outputs[i].type, b.outputs[i].type);
    EXPECT_EQ(a.outputs[i].shape, b.outputs[i].shape);
  }
  expect_same(a.attributes, b.attributes);
  EXPECT_EQ(a.client_name, b.client_name);
  EXPECT_EQ(a.functions, b.functions);
  EXPECT_EQ(a.calls, b.calls);
  EXPECT_EQ(a.stateful, b.stateful);
  ASSERT_EQ(a.parts == nullptr, b.parts == nullptr);
  if (a.parts) expect_same(*a.parts, *b.parts);
}

void expect_same(const Function& a, const Function& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.dialect, b.dialect);
  EXPECT_EQ(a.control_results, b.control_results);
  ASSERT_EQ(a.nodes.size(), b.nodes.size());
  for (size_t i = 0; i < a.nodes.size(); ++i) {
    expect_same(a.nodes[i], b.nodes[i]);
    EXPECT_EQ(b.find(a.nodes[i].name), static_cast<NodeId>(i));
  }
  ASSERT_EQ(a.arguments.size(), b.arguments.size());
  for (size_t i = 0; i < a.arguments.size(); ++i) {
    EXPECT_EQ(a.arguments[i].name, b.arguments[i].name);
    EXPECT_EQ(a.arguments[i].node, b.arguments[i].node);
    EXPECT_EQ(a.arguments[i].value.type, b.arguments[i].value.type);
    EXPECT_EQ(a.arguments[i].value.shape, b.arguments[i].value.shape);
  }
  ASSERT_EQ(a.results.size(), b.results.size());
  for (size_t i = 0; i < a.results.size(); ++i) {
    EXPECT_EQ(a.results[i].name, b.results[i].name);
    EXPECT_EQ(a.results[i].value, b.results[i].value);
  }
}

TEST(FunctionFile, AllThatAFunctionHasComesBack) {
  const Function f = everything();
  const auto functions = read(written({&f, &f}));
  ASSERT_EQ(functions.size(), 2u);
  expect_same(f, *functions[0]);
  expect_same(f, *functions[1]);
}

TEST(FunctionFile, DeadNodesAreLeftOut) {
  TestFunction t("f");
  const Edge x = t.argument("x");
  const Edge dead = t.node("Relu", {x}), alive = t.node("Tanh", {x});
  t.result(alive);
  Function whole = *t.function(), compacted = *t.function();
  whole.remove(dead.node);
  compacted.remove(dead.node);
  compacted.compact();
  expect_same(compacted, *read(written({&whole})).front());
}

TEST(FunctionFile, ConstantsLieAligned) {
  const Function f = everything();
  const std::string file = written({&f});
  const Container container(bytes_of(file));
  const auto data = container.section(SectionKind::kData);
  const float three[] = {1, 2, 3};
  const auto found = std::search(data.begin(), data.end(), std::begin(std::as_bytes(std::span(three))),
                                 std::end(std::as_bytes(std::span(three))));
  ASSERT_NE(found, data.end());
  EXPECT_EQ((&*found - reinterpret_cast<const std::byte*>(file.data())) % 64, 0);
}

TEST(FunctionFile, WhatNodesShareIsWrittenOnceAndSharedAgain) {
  TestFunction t("f");
  const Literal weights = numbers(std::vector<float>(10000, 1));
  for (int i = 0; i < 3; ++i) t.function()->add_constant("w", weights);
  const std::string file = written({t.function().get()});
  EXPECT_LT(file.size(), 50000u);
  const auto f = read(file).front();
  EXPECT_EQ(f->nodes[0].attributes.get<Literal>("value").bytes, f->nodes[2].attributes.get<Literal>("value").bytes);
}

TEST(FunctionFile, IsRefusedWhereverItIsCut) {
  const Function f = everything();
  const std::string file = written({&f});
  for (size_t length = 0; length < file.size(); ++length) EXPECT_THROW(read(file.substr(0, length)), Error) << length;
}

TEST(FunctionFile, OneOfAnotherClientIsRefused) {
  const Dialect::Row rows[] = {{"add", "Plus"}, {"argument", "In"}, {"constant", "Const"}};
  const Dialect other(rows, [](const Attribute&) { return std::string(); });
  const Function f = everything();
  const std::string file = written({&f});
  try {
    read_functions(Container(bytes_of(file)), other);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.message(), "its functions are in the words of another client");
  }
}

TEST(FunctionFile, EqualFunctionsHaveOneDigest) {
  const Function f = everything();
  EXPECT_EQ(digest_of(f), digest_of(everything()));
  const auto changed = [&](auto&& change) {
    Function other = everything();
    change(other);
    return digest_of(other);
  };
  EXPECT_NE(digest_of(f), changed([](Function& o) { o.name = "g"; }));
  EXPECT_NE(digest_of(f), changed([](Function& o) { o.nodes[4].attributes.set("a1", int64_t{-8}); }));
  EXPECT_NE(digest_of(f), changed([](Function& o) { o.nodes[3].outputs[0].shape = {}; }));
  EXPECT_NE(digest_of(f), changed([](Function& o) { o.nodes[2].attributes.set("value", numbers({1, 2, 4})); }));
  EXPECT_NE(digest_of(f), changed([](Function& o) { o.results.pop_back(); }));
}

/// Sections whose checksum is right, but not what they say: nothing but a refusal, or a function that holds together.
TEST(FuzzFunctionFile, DamagedSectionsAreRefused) {
  const Function f = everything();
  FunctionWriter writer;
  writer.add(f);
  const auto sections = writer.sections();
  std::mt19937 engine(7);
  for (int turn = 0; turn < 20000; ++turn) {
    auto damaged = sections;
    std::string& bytes = damaged[engine() % 2].second;
    for (unsigned left = 1 + engine() % 3; left > 0; --left) {
      const size_t at = engine() % bytes.size();
      if (engine() % 4 == 0)
        bytes.erase(at, 1 + engine() % 3);
      else
        bytes[at] = static_cast<char>(engine());
      if (bytes.empty()) break;
    }
    try {
      for (const auto& one : read(to_container(damaged))) to_text(*one);
    } catch (const Error&) {
    }
  }
}

class RecordedFile : public testing::TestWithParam<const char*> {};

TEST_P(RecordedFile, StepsComeBackAfterAllPasses) {
  using namespace tensorflow;  // NOLINT: the fixture's words
  Program program;
  read_graph(recorded_file(std::string(GetParam()) + ".pb"), "outer", recorded_operators(), program);
  Function step = *program.functions.at(step_of(program));
  run_passes(step, program);
  std::vector<const Function*> all = {&step};
  for (const auto& [name, function] : program.functions) all.push_back(function.get());
  const auto back = read(written(all));
  ASSERT_EQ(back.size(), all.size());
  verify(*back.front(), program);
  EXPECT_EQ(to_text(*back.front()), to_text(step));
  for (size_t i = 1; i < all.size(); ++i) expect_same(*all[i], *back[i]);
}

INSTANTIATE_TEST_SUITE_P(Step, RecordedFile, testing::ValuesIn(tensorflow::kRecorded),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace npu::graph::model
