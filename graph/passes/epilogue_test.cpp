// SPDX-License-Identifier: Apache-2.0
// Products that take up what follows them, as tables of graphs; and that results are those of the parts.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "graph/dump/watched_library.h"
#include "graph/graph_fixture.h"
#include "graph/ir/node_error.h"
#include "graph/ir/print.h"
#include "graph/ir/verify.h"
#include "graph/passes/pattern/unfuse.h"
#include "graph/passes/pipeline.h"
#include "graph/run/executable.h"

namespace npu::graph {
namespace {

const ValueType kFloats = ValueType::tensor(DType::kFloat), kInts = ValueType::tensor(DType::kInt32);

/// The graph before in words, and the text of the graph after all three passes.
struct Row {
  const char* what;
  void (*build)(TestFunction&);
  const char* text;
  int64_t matrices, images;  ///< how often the passes took effect
};

const Row kRows[] = {
    {"bias and activation; the gradient still finds what went into the activation",
     [](TestFunction& t) {
       const Edge x = t.argument("x"), w = t.argument("w"), b = t.argument("b");
       const Edge sum = t.node("BiasAdd", {t.node("MatMul", {x, w}), b});
       t.result(t.node("Tanh", {sum})).result(sum);
     },
     "function f(x: float32?, w: float32?, b: float32?) -> (r: float32?, r: float32?)\n"
     "  %3 = _FusedProduct(%0, %1, %2) : float32?, float32?  \"n_Tanh\" of MatMul, BiasAdd, Tanh\n"
     "  return %3:0, %3:1\n",
     1, 0},
    {"one node is enough, and a view may stand between",
     [](TestFunction& t) {
       const Edge x = t.argument("x"), w = t.argument("w"), b = t.argument("b"), shape = t.argument("s", kInts);
       t.result(t.node("BiasAdd", {t.node("Reshape", {t.node("MatMul", {x, w}), shape}), b}));
     },
     "function f(x: float32?, w: float32?, b: float32?, s: int32?) -> (r: float32?)\n"
     "  %4 = _FusedProduct(%0, %1, %3, %2) : float32?  \"n_BiasAdd\" of MatMul, Reshape, BiasAdd\n"
     "  return %4\n",
     1, 0},
    {"of several products that meet, the last takes the sum",
     [](TestFunction& t) {
       const Edge x = t.argument("x"), w = t.argument("w");
       const Edge a = t.node("MatMul", {x, w}), b = t.node("BatchMatMulV2", {x, w}), c = t.node("Einsum", {x, w});
       t.result(t.node("AddN", {a, c, b, x}));
     },
     "function f(x: float32?, w: float32?) -> (r: float32?)\n"
     "  %2 = MatMul(%0, %1) : float32?  \"n_MatMul\"\n"
     "  %3 = BatchMatMulV2(%0, %1) : float32?  \"n_BatchMatMulV2\"\n"
     "  %4 = _FusedProduct(%0, %1, %2, %3) : float32?  \"n_AddN\" of Einsum, AddN\n"
     "  return %4\n",
     1, 0},
    {"convolutions, and gradients through an activation",
     [](TestFunction& t) {
       const Edge x = t.argument("x"), w = t.argument("w"), s = t.argument("s", kInts);
       const Edge y = t.node("Relu", {t.node("Conv2D", {x, w})}), g = t.node("Softmax", {y});
       t.result(t.node("ReluGrad", {t.node("Conv2DBackpropInput", {s, w, g}), y}));
     },
     "function f(x: float32?, w: float32?, s: int32?) -> (r: float32?)\n"
     "  %3 = _FusedProduct(%0, %1) : float32?  \"n_Relu\" of Conv2D, Relu\n"
     "  %4 = Softmax(%3) : float32?  \"n_Softmax\"\n"
     "  %5 = _FusedProduct(%2, %1, %4, %3) : float32?  \"n_ReluGrad\" of Conv2DBackpropInput, ReluGrad\n"
     "  return %5\n",
     0, 2},
    {"what has to happen between keeps them apart",
     [](TestFunction& t) {
       const Edge x = t.argument("x"), y = t.node("MatMul", {x, x});
       t.result(t.node("Mul", {y, t.node("Softmax", {y})}));
     },
     "function f(x: float32?) -> (r: float32?)\n"
     "  %1 = MatMul(%0, %0) : float32?  \"n_MatMul\"\n"
     "  %2 = Softmax(%1) : float32?  \"n_Softmax\"\n"
     "  %3 = Mul(%1, %2) : float32?  \"n_Mul\"\n"
     "  return %3\n",
     0, 0},
    {"weight gradients and integers stay",
     [](TestFunction& t) {
       const Edge x = t.argument("x"), s = t.argument("s", kInts), i = t.argument("i", kInts);
       t.result(t.node("Neg", {t.node("Conv2DBackpropFilter", {x, s, x})}));
       t.result(t.node("Neg", {t.node("MatMul", {i, i}, kInts)}, kInts));
     },
     "function f(x: float32?, s: int32?, i: int32?) -> (r: float32?, r: int32?)\n"
     "  %3 = Conv2DBackpropFilter(%0, %1, %0) : float32?  \"n_Conv2DBackpropFilter\"\n"
     "  %4 = Neg(%3) : float32?  \"n_Neg\"\n"
     "  %5 = MatMul(%2, %2) : int32?  \"n_MatMul\"\n"
     "  %6 = Neg(%5) : int32?  \"n_Neg_1\"\n"
     "  return %4, %6\n",
     0, 0},
};

TEST(FuseEpilogues, BeforeAndAfter) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.what);
    TestFunction t("f");
    row.build(t);
    Program none;
    FusionCount chains, matrices, images;
    Function& f = *t.function();
    fuse_elementwise(f, none, chains);
    fuse_matmul_epilogues(f, none, matrices);
    fuse_conv_epilogues(f, none, images);
    verify(f, none);
    EXPECT_EQ(to_text(f), row.text);
    EXPECT_EQ(matrices.effective, row.matrices);
    EXPECT_EQ(images.effective, row.images);
    const std::string apart = to_text(unfused(f));
    EXPECT_EQ(apart.find("_Fused"), std::string::npos) << apart;
  }
}

std::vector<float> wave(size_t count, float phase) {
  std::vector<float> out(count);
  for (size_t i = 0; i < count; ++i) out[i] = std::sin(static_cast<float>(i) * 0.37f + phase);
  return out;
}

Value numbers(const Dims& shape, float phase) {
  return value_of<float>(shape, wave(static_cast<size_t>(count_of(shape)), phase));
}

/// The results with and without the passes: the same bits.
void expect_same(const std::function<TestFunction()>& build, const std::function<std::vector<Value>()>& arguments) {
  std::vector<std::vector<Value>> got;
  for (const bool fuse : {true, false}) {
    WatchedLibrary library(0);
    if (!fuse) library.switch_off({"matmul_epilogue", "conv_epilogue"});
    Program program;
    const TestFunction t = build();
    program.add(t.function());
    library.add(program);
    got.push_back(library.get("f", Role::kRoot)->run(arguments()));
    EXPECT_EQ(library.report().text().find("unfused"), std::string::npos) << library.report().text();
  }
  for (size_t i = 0; i < got[0].size(); ++i) {
    const Tensor &mine = got[0][i].tensor, &theirs = got[1][i].tensor;
    ASSERT_EQ(mine.shape, theirs.shape);
    ASSERT_EQ(mine.dtype, theirs.dtype);
    EXPECT_EQ(std::memcmp(mine.bytes(), theirs.bytes(), static_cast<size_t>(bytes_of(mine))), 0) << "result " << i;
  }
}

TEST(FuseEpilogues, ADenseLayerOfSentences) {
  const auto build = [] {
    TestFunction t("f");
    const Edge x = t.argument("x"), w = t.argument("w"), b = t.argument("b"), r = t.argument("r");
    const Edge shape = t.constant<int32_t>({3}, {4, 30, 48});
    const Edge y = t.node("Reshape", {t.node("MatMul", {x, w}), shape});
    const Edge sum = t.node("BiasAdd", {y, b});
    // GELU as Keras writes it; the gradient reads what is between.
    const Edge half = t.node("Mul", {sum, t.constant<float>({}, {0.5f})});
    const Edge one = t.node("AddV2", {t.node("Erf", {t.node("RealDiv", {sum, t.constant<float>({}, {1.4142135f})})}),
                                      t.constant<float>({}, {1.f})});
    t.result(t.node("AddV2", {t.node("Mul", {half, one}), r})).result(half).result(one).result(y);
    return t;
  };
  expect_same(build, [] {
    return std::vector<Value>{numbers({120, 36}, 0), numbers({36, 48}, 1), numbers({48}, 2), numbers({4, 30, 48}, 3)};
  });
}

TEST(FuseEpilogues, ResultsOfOtherShapesAndTypesThanTheProduct) {
  const auto build = [] {
    TestFunction t("f");
    const ValueType half = ValueType::tensor(DType::kHalf);
    const Edge x = t.argument("x"), w = t.argument("w"), wide = t.argument("wide");
    const Edge y = t.node("MatMul", {x, w});
    const Edge narrow = t.node("Cast", {t.node("Tanh", {y})}, half);
    t.with(narrow, "DstT", half);
    // The product as a row of something larger, and as itself.
    t.result(t.node("AddV2", {y, wide}))
        .result(narrow)
        .result(t.node("Greater", {y, x}, ValueType::tensor(DType::kBool)));
    return t;
  };
  expect_same(build, [] { return std::vector<Value>{numbers({7, 7}, 0), numbers({7, 7}, 1), numbers({5, 7, 7}, 2)}; });
}

TEST(FuseEpilogues, SumsOfSeveralProducts) {
  const auto build = [] {
    TestFunction t("f");
    const Edge x = t.argument("x"), w = t.argument("w"), r = t.argument("r");
    const Edge a = t.node("MatMul", {x, w}), b = t.node("MatMul", {w, x}), c = t.node("MatMul", {w, w});
    t.result(t.node("AddN", {r, a, c, b})).result(t.node("AddN", {c, c})).result(t.node("AddN", {b, r, b}));
    return t;
  };
  expect_same(build, [] { return std::vector<Value>{numbers({9, 9}, 0), numbers({9, 9}, 1), numbers({9, 9}, 2)}; });
}

TEST(FuseEpilogues, ImagesInBothFormats) {
  for (const bool last : {true, false}) {
    SCOPED_TRACE(last);
    const auto build = [last] {
      TestFunction t("f");
      const Edge x = t.argument("x"), w = t.argument("w"), b = t.argument("b");
      const Edge y = t.node("Conv2D", {x, w}), sum = t.node("BiasAdd", {y, b});
      for (const Edge e : {y, sum}) t.with(e, "data_format", std::string(last ? "NHWC" : "NCHW"));
      t.with(y, "strides", std::vector<int64_t>{1, 1, 1, 1}).with(y, "padding", std::string("SAME"));
      t.result(t.node("Relu", {sum}));
      return t;
    };
    expect_same(build, [last] {
      return std::vector<Value>{numbers(last ? Dims{3, 9, 9, 8} : Dims{3, 8, 9, 9}, 0), numbers({3, 3, 8, 16}, 1),
                                numbers({16}, 2)};
    });
  }
}

TEST(FuseEpilogues, AWrongShapeIsToldOfThePart) {
  for (const Dims& b : {Dims{3}, Dims{4}}) {
    TestFunction t("f");
    const Edge x = t.argument("x"), w = t.argument("w"), bias = t.argument("b");
    t.result(t.node("BiasAdd", {t.node("MatMul", {x, w}), bias}));
    WatchedLibrary library(0);
    Program program;
    program.add(t.function());
    library.add(program);
    const bool product = b[0] == 4;  // otherwise the bias is wrong
    try {
      library.get("f")->run({numbers({2, product ? 5 : 3}, 0), numbers({3, 4}, 1), numbers(b, 2)});
      FAIL();
    } catch (const NodeError& e) {
      EXPECT_EQ(e.node(), product ? "n_MatMul" : "n_BiasAdd");
    }
  }
}

}  // namespace
}  // namespace npu::graph
