// SPDX-License-Identifier: Apache-2.0
// What gradients compute again, as a table of graphs; and that results are the same bits.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "graph/graph_fixture.h"
#include "graph/ir/print.h"
#include "graph/ir/verify.h"
#include "graph/passes/pipeline.h"
#include "graph/run/executable.h"
#include "graph/run/library.h"

namespace npu::graph {
namespace {

const ValueType kFloats = ValueType::tensor(DType::kFloat);

struct Row {
  const char* what;
  void (*build)(TestFunction&);
  const char* text;
  int64_t effective;
};

/// Half of x and one plus its error function, as GELU reads them; the gradient does so behind a product.
void gelu(TestFunction& t) {
  const Edge x = t.argument("x"), w = t.argument("w"), b = t.argument("b");
  const Edge sum = t.node("BiasAdd", {t.node("MatMul", {x, w}), b});
  const Edge half = t.node("Mul", {sum, t.constant<float>({}, {0.5f})});
  const Edge one = t.node("AddV2", {t.constant<float>({}, {1}), t.node("Erf", {sum})});
  const Edge y = t.node("Mul", {half, one}), g = t.node("MatMul", {y, w});
  t.result(y).result(t.node("AddN", {t.node("Mul", {g, half}), t.node("Mul", {g, one})}));
}

const Row kRows[] = {
    {"of half and one plus the error function neither is kept, but what they are made of", gelu,
     "function f(x: float32?, w: float32?, b: float32?) -> (r: float32?, r: float32?)\n"
     "  %3 = MatMul(%0, %1) : float32?  \"n_MatMul\"\n"
     "  %4 = BiasAdd(%3, %2) : float32?  \"n_BiasAdd\"\n"
     "  %5 = Const() value=float32[][0.5] : float32[]  \"constant\"\n"
     "  %6 = Mul(%4, %5) : float32?  \"n_Mul\"\n"
     "  %7 = Const() value=float32[][1] : float32[]  \"constant_1\"\n"
     "  %8 = Erf(%4) : float32?  \"n_Erf\"\n"
     "  %9 = AddV2(%7, %8) : float32?  \"n_AddV2\"\n"
     "  %10 = Mul(%6, %9) : float32?  \"n_Mul_1\"\n"
     "  %11 = MatMul(%10, %1) : float32?  \"n_MatMul_1\"\n"
     "  %15 = Mul(%4, %5) after %11 : float32?  \"n_Mul_4\"\n"
     "  %12 = Mul(%11, %15) : float32?  \"n_Mul_2\"\n"
     "  %16 = Erf(%4) after %11 : float32?  \"n_Erf_1\"\n"
     "  %17 = AddV2(%7, %16) after %11 : float32?  \"n_AddV2_1\"\n"
     "  %13 = Mul(%11, %17) : float32?  \"n_Mul_3\"\n"
     "  %14 = AddN(%12, %13) : float32?  \"n_AddN\"\n"
     "  return %10, %14\n",
     1},
    {"one value is kept in either case",
     [](TestFunction& t) {
       const Edge x = t.argument("x"), sum = t.node("MatMul", {x, x}), y = t.node("Tanh", {t.node("Neg", {sum})});
       t.result(t.node("TanhGrad", {y, t.node("MatMul", {y, x})}));
     },
     "", 0},
    {"what a product reads is there in any case",
     [](TestFunction& t) {
       const Edge x = t.argument("x"), y = t.node("Exp", {x});
       t.result(t.node("ReluGrad", {t.node("MatMul", {y, x}), y}));
     },
     "", 0},
    {"what stays near is not computed twice",
     [](TestFunction& t) {
       const Edge x = t.argument("x"), a = t.node("Neg", {x}), b = t.node("Exp", {x});
       t.result(t.node("Mul", {a, b})).result(t.node("AddV2", {a, b}));
     },
     "", 0},
};

TEST(Recompute, BeforeAndAfter) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.what);
    TestFunction t("f");
    row.build(t);
    const std::string before = to_text(*t.function());
    Program none;
    FusionCount count;
    recompute_for_gradients(*t.function(), none, count);
    verify(*t.function(), none);
    EXPECT_EQ(count.effective, row.effective);
    const std::string text = to_text(*t.function());
    if (row.effective == 0)
      EXPECT_EQ(text, before);
    else
      EXPECT_EQ(text, row.text);
  }
}

std::vector<float> wave(size_t count, float phase) {
  std::vector<float> out(count);
  for (size_t i = 0; i < count; ++i) out[i] = std::sin(static_cast<float>(i) * 0.37f + phase);
  return out;
}

/// A reader of what is made of two values: when it is asked what to wait for on account of the second one, it reads a
/// copy of what is made of the first.
TEST(Recompute, ReadersMayReadWhatIsComputedAgain) {
  TestFunction t("f");
  const auto halved = [&](Edge x) { return t.node("Mul", {x, t.constant<float>({}, {0.5f})}); };
  const Edge x = t.argument("x"), y = t.argument("y"), w = t.argument("w");
  const Edge a = halved(x), b = t.node("Erf", {x}), c = halved(y), d = t.node("Erf", {y});
  const Edge far = t.node("MatMul", {t.node("AddV2", {t.node("Mul", {a, b}), t.node("Mul", {c, d})}), w});
  t.result(t.node("AddN", {a, c, far})).result(t.node("AddN", {b, d, far}));
  Program none;
  FusionCount count;
  recompute_for_gradients(*t.function(), none, count);
  verify(*t.function(), none);
  EXPECT_EQ(count.effective, 2);
  int waiting = 0;
  for (const Node& node : t.function()->nodes) waiting += node.after == std::vector<NodeId>{far.node} ? 1 : 0;
  EXPECT_EQ(waiting, 4) << to_text(*t.function());
}

/// A reader may not be joined with a node only because another one stands between them: it comes before what the other
/// readers wait for, and may be what that waits for.
TEST(Recompute, NothingWaitsForItself) {
  TestFunction t("f");
  const Edge x = t.argument("x"), w = t.argument("w");
  const Edge a = t.node("Mul", {x, t.constant<float>({}, {0.5f})}), b = t.node("Erf", {x});
  const Edge near = t.node("Mul", {a, t.node("Mul", {a, w})});  // reads a twice, once through another
  const Edge far = t.node("MatMul", {near, w});
  t.result(t.node("Mul", {a, far})).result(t.node("Mul", {b, far}));
  Program none;
  FusionCount count;
  recompute_for_gradients(*t.function(), none, count);
  verify(*t.function(), none);
}

TEST(Recompute, ResultsAreTheSame) {
  std::vector<std::vector<float>> got;
  for (const bool again : {true, false}) {
    TestFunction t("f");
    gelu(t);
    Library library(0);
    if (!again) library.switch_off({"recompute"});
    Program program;
    program.add(t.function());
    library.add(program);
    const auto values =
        library.get("f")->run({value_of<float>({40, 24}, wave(960, 0)), value_of<float>({24, 24}, wave(576, 1)),
                               value_of<float>({24}, wave(24, 2))});
    for (const Value& value : values) got.push_back(numbers_of<float>(value));
  }
  EXPECT_EQ(got[0], got[2]);
  EXPECT_EQ(got[1], got[3]);
}

}  // namespace
}  // namespace npu::graph
