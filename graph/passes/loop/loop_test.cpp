// SPDX-License-Identifier: Apache-2.0
// Products that leave loops: which ones do, and that results are those of the loop as it was.
#include "graph/passes/loop/loop.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "graph/dump/watched_library.h"
#include "graph/graph_fixture.h"
#include "graph/ir/node_error.h"
#include "graph/ir/print.h"
#include "graph/ir/verify.h"
#include "graph/passes/pipeline.h"
#include "graph/run/executable.h"

namespace npu::graph {
namespace {

const ValueType kFloats = ValueType::tensor(DType::kFloat), kInts = ValueType::tensor(DType::kInt32),
                kList = ValueType::variant();

/// A loop over the elements of a list, first to last or last to first:
///   h, sum, rows = tanh(h + list[i] @ w), sum + list[i]^T @ h', rows + the rows of h'   while i < turns
struct Loop {
  Program program;
  std::string transposed;  ///< attribute of the product with the list's element that is set
  bool carried_matrix = false, backwards = false, sum_used = false, from_variable = false;
  std::string added;  ///< to the product: "", "bias", "state" (the product with it), "state bias" or "bias state"

  void make() { make_condition(), make_body(), make_outer(); }

 private:
  void make_condition() {
    TestFunction t("condition");
    const Edge i = t.argument("i", kInts), turns = t.argument("turns", kInts);
    rest(t);
    t.result(t.node("Less", {i, turns}, ValueType::tensor(DType::kBool)));
    program.add(t.function());
  }
  std::vector<Edge> rest(TestFunction& t) const {
    return {t.argument("list", kList), t.argument("w", from_variable ? ValueType::resource() : kFloats),
            t.argument("h"), t.argument("sum"), t.argument("rows")};
  }
  void make_body() {
    TestFunction t("body");
    const Edge i = t.argument("i", kInts), turns = t.argument("turns", kInts);
    const std::vector<Edge> v = rest(t);
    const Edge one = t.constant<int32_t>({}, {1}), shape = t.constant<int32_t>({2}, {-1, -1});
    Edge at = i;
    if (backwards) at = t.node("Sub", {t.node("Sub", {turns, i}, kInts), one}, kInts);
    const Edge x = t.node("TensorListGetItem", {v[0], at, shape});
    const Edge w = from_variable ? t.node("ReadVariableOp", {v[1]}) : v[1];
    const Edge product = t.node("MatMul", {x, w});
    if (!transposed.empty()) t.with(product, transposed, true);
    const Edge h = t.node("Tanh", {with_additions(t, v, product)});
    const Edge outer = t.node("MatMul", {x, h});
    t.with(outer, "transpose_a", true);
    const Edge sum = t.node("AddN", {v[3], outer});
    const Edge rows = t.node("AddV2", {t.node("BiasAddGrad", {h}), v[4]});
    const Edge matrix = carried_matrix ? t.node("Add", {v[1], v[1]}) : v[1];
    t.result(t.node("AddV2", {i, one}, kInts)).result(turns).result(t.node("Identity", {v[0]}, kList)).result(matrix);
    t.result(sum_used ? t.node("Mul", {h, t.node("Max", {v[3], t.constant<int32_t>({2}, {0, 1})})}) : h);
    t.result(sum).result(rows);
    program.add(t.function());
  }
  Edge with_additions(TestFunction& t, const std::vector<Edge>& v, Edge product) const {
    const Edge bias = t.constant<float>({6}, {1, -1, 0.5, 0.25, -2, 3});
    std::vector<float> numbers(36);
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::cos(static_cast<float>(i));
    const Edge state = t.constant<float>({6, 6}, numbers);
    const auto add = [&](Edge to, bool second) {
      return second ? t.node("AddV2", {to, t.node("MatMul", {v[2], state})}) : t.node("BiasAdd", {to, bias});
    };
    if (added.empty()) return t.node("AddV2", {v[2], product});
    const bool both = added.size() > 5, first = added.starts_with("state");
    const Edge once = add(product, first);
    return both ? add(once, !first) : once;
  }
  void make_outer() {
    TestFunction t("outer");
    const Edge turns = t.argument("turns", kInts), x = t.argument("x");
    const Edge w = t.argument("w", from_variable ? ValueType::resource() : kFloats), h = t.argument("h"),
               sum = t.argument("sum"), rows = t.argument("rows");
    const Edge list = t.node("TensorListFromTensor", {x, t.constant<int32_t>({}, {-1})}, kList);
    t.with(list, "element_dtype", kFloats);
    const Edge zero = t.constant<int32_t>({}, {0});
    const Edge loop = t.node("While", {zero, turns, list, w, h, sum, rows}, kFloats, 7);
    Node& node = (*t.function())[loop.node];
    node.outputs[0].type = node.outputs[1].type = kInts, node.outputs[2].type = kList;
    if (from_variable) node.outputs[3].type = ValueType::resource();
    t.with(loop, "cond", FunctionName{"condition"}).with(loop, "body", FunctionName{"body"});
    for (const int32_t output : {4, 5, 6}) t.result({loop.node, output});
    program.add(t.function());
  }
};

std::vector<float> wave(int64_t count, float phase) {
  std::vector<float> out(static_cast<size_t>(count));
  for (size_t i = 0; i < out.size(); ++i) out[i] = std::sin(static_cast<float>(i) * 0.37f + phase);
  return out;
}

struct Sizes {
  int64_t elements, rows, in, out;
  int32_t turns;
};

std::vector<Value> arguments(const Loop& loop, const Sizes& s) {
  const auto matrix = [](int64_t rows, int64_t cols, float phase) {
    return value_of<float>({rows, cols}, wave(rows * cols, phase));
  };
  Value w = loop.transposed == "transpose_b" ? matrix(s.out, s.in, 1) : matrix(s.in, s.out, 1);
  if (loop.from_variable) {
    auto variable = std::make_shared<Variable>(0);
    variable->assign(w);
    w = {{}, nullptr, variable};
  }
  return {value_of<int32_t>({}, {s.turns}),
          value_of<float>({s.elements, s.rows, s.in}, wave(s.elements * s.rows * s.in, 0)),
          w,
          matrix(s.rows, s.out, 2),
          matrix(s.in, s.out, 3),
          value_of<float>({s.out}, wave(s.out, 4))};
}

struct Outcome {
  std::vector<std::vector<float>> results;
  std::string error, fusions;
};

Outcome run(const Loop& loop, const Sizes& sizes, std::vector<std::string> off) {
  WatchedLibrary library(0);
  library.switch_off(std::move(off));
  library.add(loop.program);
  Outcome out;
  try {
    for (const Value& value : library.get("outer", Role::kRoot)->run(arguments(loop, sizes)))
      out.results.push_back(numbers_of<float>(value));
  } catch (const NodeError& e) {
    out.error = e.node() + ": " + e.plain();
  }
  out.fusions = library.report().json();
  return out;
}

const std::vector<std::string> kNone{"loop_inputs", "loop_sums"};

void expect_equal(const Loop& loop, const Sizes& sizes) {
  const Outcome with = run(loop, sizes, {}), without = run(loop, sizes, kNone);
  EXPECT_EQ(with.error, without.error);
  ASSERT_EQ(with.results.size(), without.results.size());
  for (size_t i = 0; i < with.results.size(); ++i) {
    ASSERT_EQ(with.results[i].size(), without.results[i].size());
    for (size_t k = 0; k < with.results[i].size(); ++k)
      ASSERT_NEAR(with.results[i][k], without.results[i][k], 2e-6 * (4 + std::fabs(without.results[i][k])))
          << i << " " << k;
  }
}

int64_t taken(Loop& loop, void (*pass)(Function&, Program&, FusionCount&), std::string* reasons = nullptr) {
  FusionCount count;
  Function& outer = loop.program.get("outer");
  pass(outer, loop.program, count);
  verify(outer, loop.program);
  verify(loop.program);
  for (const auto& [reason, times] : count.declined)
    if (reasons != nullptr) *reasons += reason;
  return count.effective;
}

TEST(LoopInputs, BeforeAndAfter) {
  Loop loop;
  loop.make();
  EXPECT_EQ(taken(loop, take_inputs_out_of_loops), 1);
  const std::string outer = to_text(loop.program.get("outer")), body = to_text(loop.program.get("body#ahead_10"));
  EXPECT_NE(outer.find("  %10 = _FusedKeptProducts() : variant  \"n_While/_FusedKeptProducts\"\n"
                       "  %9 = While(%8, %0, %7, %2, %3, %4, %5, %10) body=@body#ahead_10 cond=@condition#ahead_10"),
            std::string::npos)
      << outer;
  EXPECT_NE(body.find("  %19 = _FusedItemProduct(%9, %3, %2, %0, %18) bias=false turned=false : float32?  "
                      "\"n_MatMul_2\" of MatMul\n  %11 = AddV2(%4, %19) : float32?  \"n_AddV2\"\n"),
            std::string::npos)
      << body;
}

TEST(LoopSums, BeforeAndAfter) {
  Loop loop;
  loop.make();
  EXPECT_EQ(taken(loop, take_sums_out_of_loops), 2);
  const std::string outer = to_text(loop.program.get("outer")), body = to_text(loop.program.get("body#sums_5_6"));
  EXPECT_NE(outer.find("  %12 = _FusedLoopSumEnd(%9:5, %9:7) : float32?  \"n_While/sum\"\n"
                       "  %13 = _FusedLoopSumEnd(%9:6, %9:8) : float32?  \"n_While/sum_1\"\n"
                       "  return %9:4, %12, %13\n"),
            std::string::npos)
      << outer;
  EXPECT_NE(
      body.find(
          "  %19 = _FusedLoopSum(%5, %18, %9, %12) terms=[1] : float32?, variant  \"n_AddN_1\" of MatMul, AddN\n"
          "  %21 = _FusedLoopSum(%6, %20, %12) terms=[4] : float32?, variant  \"n_AddV2_1_1\" of BiasAddGrad, AddV2\n"
          "  return %17, %1, %2, %3, %12, %19:0, %21:0, %19:1, %21:1\n"),
      std::string::npos)
      << body;
}

TEST(LoopInputs, WhatChangesStays) {
  for (const bool carried : {true, false}) {
    Loop loop;
    loop.carried_matrix = carried;
    if (!carried) loop.transposed = "transpose_a";
    loop.make();
    std::string reasons;
    EXPECT_EQ(taken(loop, take_inputs_out_of_loops, &reasons), 0);
    // The product with the element on the left of h turns it.
    EXPECT_EQ(reasons, carried ? "the element is turnedthe matrix changes from turn to turn" : "the element is turned");
  }
}

TEST(LoopSums, WhatTheTurnReadsStays) {
  Loop loop;
  loop.sum_used = true;
  loop.make();
  std::string reasons;
  EXPECT_EQ(taken(loop, take_sums_out_of_loops, &reasons), 1);
  EXPECT_EQ(reasons, "the sum is used in the turn");
}

TEST(LoopProducts, AnyNumberOfTurns) {
  for (const bool backwards : {false, true})
    for (const bool from_variable : {false, true})
      for (const int32_t turns : {0, 1, 3, 7}) {
        SCOPED_TRACE(turns);
        Loop loop;
        loop.backwards = backwards, loop.from_variable = from_variable;
        loop.make();
        expect_equal(loop, {7, 5, 4, 6, turns});
      }
}

TEST(LoopProducts, ManyTurnsFillTheRoomSeveralTimes) {
  for (const bool backwards : {false, true}) {
    Loop loop;
    loop.backwards = backwards;
    loop.make();
    expect_equal(loop, {50, 100, 64, 48, 50});
    expect_equal(loop, {3, 1500, 8, 16, 3});
  }
}

TEST(LoopProducts, WhatIsAddedGoesAlong) {
  const std::pair<const char*, const char*> rows[] = {{"bias", "of MatMul, BiasAdd\n"},
                                                      {"state", "of MatMul, MatMul, AddV2\n"},
                                                      {"state bias", "of MatMul, MatMul, AddV2, BiasAdd\n"},
                                                      {"bias state", "of MatMul, BiasAdd, MatMul, AddV2\n"}};
  for (const auto& [added, parts] : rows)
    for (const bool backwards : {false, true}) {
      SCOPED_TRACE(added);
      Loop loop;
      loop.added = added, loop.backwards = backwards;
      loop.make();
      for (const int32_t turns : {0, 1, 7}) expect_equal(loop, {7, 5, 4, 6, turns});
      expect_equal(loop, {40, 128, 4, 6, 40});
      EXPECT_EQ(taken(loop, take_inputs_out_of_loops), 1);
      const Function& body = loop.program.get("outer");
      const std::string text = to_text(loop.program.get(as_call(body[loops_of(body).front()])->bodies.front()));
      EXPECT_NE(text.find(parts), std::string::npos) << text;
    }
}

TEST(LoopProducts, ATurnedMatrix) {
  Loop loop;
  loop.transposed = "transpose_b";
  loop.make();
  expect_equal(loop, {7, 5, 4, 6, 7});
}

TEST(LoopProducts, WhatIsWrongIsToldOfTheProductAndOnlyWhenATurnMeetsIt) {
  Loop loop;
  loop.make();
  Loop wrong = loop;
  const auto error = [&](int32_t turns, const std::vector<std::string>& off) {
    WatchedLibrary library(0);
    library.switch_off(off);
    library.add(loop.program);
    std::vector<Value> given = arguments(loop, {7, 5, 4, 6, turns});
    given[2] = value_of<float>({3, 6}, wave(18, 1));
    try {
      library.get("outer")->run(given);
    } catch (const NodeError& e) {
      return e.node() + ": " + e.plain();
    }
    return std::string();
  };
  for (const std::vector<std::string>& off : {std::vector<std::string>{}, kNone}) {
    EXPECT_EQ(error(0, off), "");
    EXPECT_EQ(error(1, off), "n_MatMul: the operands are 5x4 and 3x6: inner sizes differ (4 and 3)");
  }
  // Beyond the end of the list.
  const Outcome with = run(loop, {7, 5, 4, 6, 8}, {}), without = run(loop, {7, 5, 4, 6, 8}, kNone);
  EXPECT_EQ(with.error, without.error);
  EXPECT_NE(with.error.find("Trying to access element 7 in a list with 7 elements."), std::string::npos) << with.error;
}

}  // namespace
}  // namespace npu::graph
