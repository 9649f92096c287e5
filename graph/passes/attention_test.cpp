// SPDX-License-Identifier: Apache-2.0
// Attention in the forms people write it in: what becomes one node, what is left, and what is computed then.
#include <gtest/gtest.h>

#include <limits>

#include "graph/dump/watched_library.h"
#include "graph/graph_fixture.h"
#include "graph/passes/fusion_fixture.h"
#include "graph/passes/pipeline.h"
#include "graph/run/executable.h"

namespace npu::graph {
namespace {

constexpr int64_t kBatch = 2, kQueries = 70, kKeys = 300, kHeads = 3, kDepth = 4, kValueDepth = 5;

/// softmax(Q K^T) V of Keras, step by step.
class Written {
 public:
  explicit Written(DType dtype = DType::kFloat) : type(ValueType::tensor(dtype)) {
    q = t.argument("q", type), k = t.argument("k", type), v = t.argument("v", type);
  }

  Edge product(Edge a, Edge b, const std::string& equation) {
    const Edge out = t.node("Einsum", {a, b}, type);
    t.with(out, "equation", equation);
    return out;
  }
  Edge matrices(Edge a, Edge b, bool turned_a, bool turned_b) {
    const Edge out = t.node("BatchMatMulV2", {a, b}, type);
    t.with(out, "adj_x", turned_a).with(out, "adj_y", turned_b);
    return out;
  }
  Edge node(const std::string& op, std::vector<Edge> inputs) { return t.node(op, std::move(inputs), type); }
  Edge number(float value) {
    return type.dtype == DType::kDouble  ? t.constant<double>({}, {value})
           : type.dtype == DType::kFloat ? t.constant<float>({}, {value})
                                         : t.constant<Half>({}, {Half(value)});
  }

  void scores() { s = logits = product(k, q, "aecd,abcd->acbe"); }
  void shape_scores(const Dims& shape) { (*t.function())[s.node].outputs[0].shape.dims = shape; }
  void add_bias() { bias = t.argument("bias", type), logits = node("AddV2", {logits, bias}); }
  void softmax() { p = used = node("Softmax", {logits}); }
  void keep() { used = node("Identity", {p}); }
  void combine() { out = product(used, v, "acbe,aecd->abcd"); }
  void forward() { scores(), softmax(), combine(), t.result(out); }

  /// What TensorFlow writes; `reduced`: as it does where it does not know the batch.
  void gradient(bool reduced = false) {
    const Edge dy = t.argument("dy", type);
    const Edge dv = product(dy, used, "abcd,acbe->aecd");
    dp = product(dy, v, "abcd,aecd->acbe");
    sum = node("Sum", {node("Mul", {dp, p}), t.constant<int32_t>({}, {-1})});
    t.with(sum, "keep_dims", true);
    Edge ds = node("Mul", {node("Sub", {dp, sum}), p});
    if (reduced) {
      const ValueType ints = ValueType::tensor(DType::kInt32);
      const Edge shape = t.node("Shape", {s}, ints);
      const Edge axes = t.node("BroadcastGradientArgs", {shape, t.node("Shape", {bias}, ints)}, ints, 2);
      const Edge summed = node("Sum", {ds, axes});
      t.with(summed, "keep_dims", true);
      ds = node("Reshape", {summed, shape});
    }
    if (factor.node >= 0) ds = node("RealDiv", {ds, factor});
    t.result(product(ds, k, "acbe,aecd->abcd")).result(product(ds, q, "acbe,abcd->aecd")).result(dv);
  }

  /// The absolute values of what is summed up to the query's gradient.
  Edge terms_of_query() {
    const Edge bound = node("AddV2", {node("Abs", {dp}), node("Abs", {sum})});
    return product(node("RealDiv", {node("Mul", {p, bound}), factor}), node("Abs", {k}), "acbe,aecd->abcd");
  }

  TestFunction t{"f"};
  const ValueType type;
  Edge q, k, v, s, logits, p, used, out, dp, sum, bias = {}, factor = {};
};

struct Row {
  const char* what;
  void (*build)(Written&);
  std::vector<std::string> fused;
  const char* declined = nullptr;
};

const Row kTable[] = {
    {"products and a softmax",
     [](Written& w) { w.forward(); },
     {"_FusedAttention of Einsum Softmax Einsum, 3 in, 1 out"}},
    {"a bias, and a dropout that drops nothing",
     [](Written& w) { w.scores(), w.add_bias(), w.softmax(), w.keep(), w.combine(), w.t.result(w.out); },
     {"_FusedAttention of Einsum AddV2 Softmax Identity Einsum, 4 in, 1 out"}},
    {"scores that are scaled",
     [](Written& w) {
       w.scores(), w.logits = w.node("Mul", {w.number(0.5F), w.logits});
       w.add_bias(), w.softmax(), w.combine(), w.t.result(w.out);
     },
     {"_FusedAttention of Einsum Mul AddV2 Softmax Einsum, 5 in, 1 out"}},
    {"products of matrices",
     [](Written& w) {
       w.s = w.matrices(w.q, w.k, false, true), w.logits = w.node("RealDiv", {w.s, w.number(2)});
       w.softmax(), w.t.result(w.matrices(w.p, w.v, false, false));
     },
     {"_FusedAttention of BatchMatMulV2 RealDiv Softmax BatchMatMulV2, 4 in, 1 out"}},
    {"with the gradient, which computes the scores again",
     [](Written& w) { w.forward(), w.gradient(); },
     {"_FusedAttention of Einsum Softmax Einsum, 3 in, 3 out",
      "_FusedAttentionGrad of Einsum Softmax Einsum Einsum Mul Sum Sub Mul Einsum Einsum, 8 in, 3 out"}},
    {"a gradient of scores of unknown shape",
     [](Written& w) { w.scores(), w.add_bias(), w.softmax(), w.combine(), w.t.result(w.out), w.gradient(true); },
     {"_FusedAttention of Einsum AddV2 Softmax Einsum, 4 in, 3 out",
      "_FusedAttentionGrad of Einsum AddV2 Softmax Einsum Einsum Mul Sum Sub Mul Shape BroadcastGradientArgs Sum "
      "Reshape "
      "Einsum Einsum, 10 in, 3 out"}},
    {"many scores in each head",
     [](Written& w) { w.forward(), w.shape_scores({kUnknownDim, kHeads, 1024, 1024}); },
     {"_FusedAttention of Einsum Softmax Einsum, 3 in, 1 out"}},
    {"few scores in each head",
     [](Written& w) { w.forward(), w.shape_scores({kUnknownDim, kHeads, 1024, 1023}); },
     {},
     "it has few scores: its parts are as fast"},
    {"probabilities that somebody wants",
     [](Written& w) { w.forward(), w.t.result(w.p); },
     {},
     "others read its scores"},
    {"half a gradient",
     [](Written& w) { w.forward(), w.t.result(w.product(w.t.argument("dy"), w.p, "abcd,acbe->aecd")); },
     {},
     "others read its scores"},
};

TEST(FuseAttention, BeforeAndAfter) {
  for (const Row& row : kTable) {
    SCOPED_TRACE(row.what);
    Written graph;
    row.build(graph);
    const FusionOutcome got = outcome_of(graph.t, fuse_attention);
    EXPECT_EQ(got.fused, row.fused);
    EXPECT_EQ(got.count.effective, row.fused.empty() ? 0 : 1);
    EXPECT_EQ(got.count.declined.size(), row.declined == nullptr ? 0u : 1u);
    if (row.declined != nullptr) {
      EXPECT_EQ(got.count.declined.count(row.declined), 1u);
    }
  }
}

TEST(FuseAttention, OtherProductsAreOthers) {
  const auto matched = [](void (*build)(Written&)) {
    Written graph;
    build(graph);
    return outcome_of(graph.t, fuse_attention).count.matched;
  };
  EXPECT_EQ(matched([](Written& w) { w.logits = w.node("MatMul", {w.q, w.k}), w.softmax(), w.t.result(w.p); }), 0);
  EXPECT_EQ(matched([](Written& w) { w.scores(), w.softmax(), w.t.result(w.p); }), 0) << "no V";
  EXPECT_EQ(matched([](Written& w) { w.scores(), w.softmax(), w.t.result(w.product(w.p, w.v, "acbe,abcd->aecd")); }), 0)
      << "V has as many rows as there are queries";
  EXPECT_EQ(matched([](Written& w) {
              w.s = w.logits = w.product(w.k, w.q, "aecd,abcd->acb"), w.softmax(), w.combine(), w.t.result(w.out);
            }),
            0);
}

// ---- what is computed

struct Outcome {
  std::vector<std::vector<double>> results;
  std::string report;
};

Outcome computed(Written& w, bool fuse, std::vector<Value> values) {
  WatchedLibrary library(0);
  if (!fuse) library.switch_off({"attention"});
  Program program;
  program.add(w.t.function());
  library.add(program);
  Outcome out;
  for (const Value& v : library.get("f", Role::kRoot)->run(std::move(values))) out.results.push_back(doubles(v));
  out.report = library.report().text();
  return out;
}

std::vector<Value> arguments(DType dtype, bool biased) {
  std::vector<Value> out{wave(dtype, {kBatch, kQueries, kHeads, kDepth}, 0),
                         wave(dtype, {kBatch, kKeys, kHeads, kDepth}, 1),
                         wave(dtype, {kBatch, kKeys, kHeads, kValueDepth}, 2)};
  if (biased) out.push_back(wave(dtype, {kBatch, 1, kQueries, kKeys}, 4));
  out.push_back(wave(dtype, {kBatch, kQueries, kHeads, kValueDepth}, 3));
  return out;
}

Written trained(DType dtype, bool biased) {
  Written w(dtype);
  w.scores();
  w.factor = w.number(8), w.logits = w.node("RealDiv", {w.logits, w.factor});
  if (biased) w.add_bias();
  w.softmax(), w.keep(), w.combine(), w.t.result(w.out), w.gradient(biased);
  return w;
}

double largest(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
}

// The gradients of a query's scores add up to 0: with keys that are much alike its own gradient is what 300 terms leave
// of each other, here a 368th of them without a bias. Rounding is measured by the terms.
TEST(FusedAttention, IsAsNearToFloat64AsItsParts) {
  for (const bool biased : {false, true})
    for (const DType dtype : {DType::kFloat, DType::kHalf}) {
      Written exact = trained(DType::kDouble, biased), mine = trained(dtype, biased), theirs = trained(dtype, biased);
      exact.t.result(exact.terms_of_query());
      const Outcome reference = computed(exact, false, arguments(DType::kDouble, biased));
      const double cancelled = largest(reference.results[4]) / std::abs(largest(reference.results[1]));
      const Outcome fused = computed(mine, true, arguments(dtype, biased));
      const Outcome parts = computed(theirs, false, arguments(dtype, biased));
      EXPECT_NE(fused.report.find("fused by attention: 1 of 1"), std::string::npos) << fused.report;
      EXPECT_EQ(fused.report.find("fused in vain"), std::string::npos) << fused.report;
      ASSERT_EQ(fused.results.size(), 4u);
      for (size_t i = 0; i < 4; ++i) {
        ASSERT_EQ(fused.results[i].size(), reference.results[i].size());
        const double own = distance(fused.results[i], reference.results[i]);
        const double rounding = 1e-6 * (i == 1 ? cancelled : 1);
        EXPECT_LE(own, 2 * distance(parts.results[i], reference.results[i]) + rounding) << name_of(dtype) << " " << i;
        EXPECT_GT(own, 0);
      }
    }
}

TEST(FusedAttention, AQueryFromWhichAllIsHiddenHasNoResult) {
  for (const bool fuse : {true, false}) {
    Written w;
    w.scores(), w.add_bias(), w.softmax(), w.combine(), w.t.result(w.out), w.gradient(true);
    std::vector<Value> values = arguments(DType::kFloat, true);
    for (int64_t key = 0; key < kKeys; ++key)
      values[3].tensor.as<float>()[key] = -std::numeric_limits<float>::infinity();
    const Outcome run = computed(w, fuse, values);
    EXPECT_EQ(run.report.find("fused by attention") != std::string::npos, fuse);
    const auto row = static_cast<size_t>(kHeads * kValueDepth);
    for (size_t i = 0; i < 2 * row; ++i) EXPECT_EQ(std::isnan(run.results[0][i]), i < row) << i;
    EXPECT_TRUE(std::isnan(run.results[1][0]));  // the query's gradient
  }
}

TEST(FusedAttention, OtherShapesRunItsParts) {
  Written w;
  w.scores(), w.add_bias(), w.softmax(), w.combine(), w.t.result(w.out), w.gradient(false);
  std::vector<Value> values = arguments(DType::kFloat, true);
  values[3] = wave(DType::kFloat, {2, 1, 1, 1, 1}, 0);  // more dimensions than the scores
  Outcome run;
  EXPECT_THROW(run = computed(w, true, values), Error);  // parts refuse it too, in their own words
}

}  // namespace
}  // namespace npu::graph
