// SPDX-License-Identifier: Apache-2.0
// Layer normalisation as Keras writes it: what becomes one node, what is left and why, and what is computed then.
#include <gtest/gtest.h>

#include "graph/dump/watched_library.h"
#include "graph/graph_fixture.h"
#include "graph/passes/fusion_fixture.h"
#include "graph/passes/pipeline.h"
#include "graph/run/executable.h"

namespace npu::graph {
namespace {

constexpr int64_t kRows = 35, kLength = 70;
const Dims kShape{5, 7, kLength};

/// A graph with a normalisation of x along its last axis; `type` is that of the elements, statistics are wider.
class Written {
 public:
  explicit Written(DType dtype = DType::kFloat) : type(ValueType::tensor(dtype)) {
    if (dtype == DType::kDouble) wide = type;
  }

  void forward(Edge input, Edge g = {}, Edge b = {}) {
    x = input, gamma = g;
    squeezed = t.node("Reshape", {x, ints({4}, {1, kRows, kLength, 1})}, type);
    norm = t.node("FusedBatchNormV3", {squeezed, number(1), number(0), empty(), empty()}, wide, 6);
    (*t.function())[norm.node].outputs[0].type = type;
    with_format(norm, "NCHW");
    y = unit = t.node("Reshape", {norm, ints({3}, {5, 7, kLength})}, type);
    if (g.node >= 0) y = t.node("Mul", {y, g}, type);
    if (b.node >= 0) y = t.node("AddV2", {y, b}, type);
  }

  /// What TensorFlow writes for the gradient; results dx, dgamma, dbeta.
  void gradient(Edge dy) {
    const auto sum = [&](Edge of) {
      const Edge all = t.node("Sum", {of, ints({2}, {0, 1})}, type);
      t.with(all, "keep_dims", true);
      t.result(t.node("Reshape", {all, ints({1}, {kLength})}, type));
    };
    const Edge scaled = gamma.node >= 0 ? t.node("Mul", {dy, gamma}, type) : dy;
    const Edge back = t.node("Reshape", {scaled, t.node("Shape", {norm}, ValueType::tensor(DType::kInt32))}, type);
    const auto saved = [&](int32_t i) { return Edge{norm.node, i}; };
    const Edge dx = t.node("FusedBatchNormGradV3", {back, squeezed, number(1), saved(3), saved(4), saved(5)}, wide, 5);
    (*t.function())[dx.node].outputs[0].type = type;
    with_format(dx, "NCHW");
    t.result(t.node("Reshape", {dx, t.node("Shape", {x}, ValueType::tensor(DType::kInt32))}, type));
    if (gamma.node >= 0) sum(t.node("Mul", {unit, dy}, type));
    sum(dy);
  }

  void with_format(Edge node, const std::string& format) {
    t.with(node, "data_format", format).with(node, "is_training", true).with(node, "epsilon", 1e-3);
  }
  Edge ints(const Dims& shape, const std::vector<int32_t>& numbers) { return t.constant<int32_t>(shape, numbers); }
  Edge number(float value) {
    const auto one = wide.dtype == DType::kDouble ? t.constant<double>({}, {value}) : t.constant<float>({}, {value});
    (*t.function())[one.node].outputs[0].type = wide;
    return t.node("Fill", {ints({1}, {kRows}), one}, wide);
  }
  Edge empty() { return wide.dtype == DType::kDouble ? t.constant<double>({0}, {}) : t.constant<float>({0}, {}); }
  Edge parameter(const std::string& name) { return t.argument(name, type); }
  /// Arguments x and, as wanted, g and b.
  void forward_of_arguments(bool scaled, bool shifted) {
    const Edge input = parameter("x"), g = scaled ? parameter("g") : Edge{}, b = shifted ? parameter("b") : Edge{};
    forward(input, g, b);
  }

  TestFunction t{"f"};
  const ValueType type;
  ValueType wide = ValueType::tensor(DType::kFloat);
  Edge x, gamma, squeezed, norm, unit, y;
};

using Lines = std::vector<std::string>;

struct Row {
  const char* what;
  void (*build)(Written&);
  Lines fused;
  const char* declined;  ///< why one is left; null: none is
};

const Row kTable[] = {
    {"alone",
     [](Written& g) { g.forward(g.parameter("x")), g.t.result(g.y); },
     {"_FusedLayerNorm of Reshape FusedBatchNormV3 Reshape, 7 in, 1 out"},
     nullptr},
    {"with gamma and beta",
     [](Written& g) { g.forward_of_arguments(true, true), g.t.result(g.y); },
     {"_FusedLayerNorm of Reshape FusedBatchNormV3 Reshape Mul AddV2, 9 in, 1 out"},
     nullptr},
    {"gamma that is computed is no part of it",
     [](Written& g) { g.forward(g.parameter("x"), g.t.node("Exp", {g.parameter("g")})), g.t.result(g.y); },
     {"_FusedLayerNorm of Reshape FusedBatchNormV3 Reshape, 7 in, 1 out"},
     nullptr},
    {"a result between ends it",
     [](Written& g) {
       g.forward_of_arguments(true, true);
       g.t.result(g.unit).result(g.y);
     },
     {"_FusedLayerNorm of Reshape FusedBatchNormV3 Reshape, 7 in, 1 out"},
     nullptr},
    {"with its gradient, which computes the rows again",
     [](Written& g) {
       g.forward_of_arguments(true, true);
       g.t.result(g.y), g.gradient(g.parameter("dy"));
     },
     {"_FusedLayerNorm of Reshape FusedBatchNormV3 Reshape Mul AddV2, 9 in, 1 out",
      "_FusedLayerNormGrad of Reshape FusedBatchNormV3 Reshape Mul Shape Reshape FusedBatchNormGradV3 Mul Sum Sum, "
      "12 in, 3 out"},
     nullptr},
    {"without gamma and beta",
     [](Written& g) { g.forward(g.parameter("x")), g.t.result(g.y), g.gradient(g.parameter("dy")); },
     {"_FusedLayerNorm of Reshape FusedBatchNormV3 Reshape, 7 in, 1 out",
      "_FusedLayerNormGrad of Reshape FusedBatchNormV3 Shape Reshape FusedBatchNormGradV3 Sum, 9 in, 2 out"},
     nullptr},
    {"statistics that somebody reads",
     [](Written& g) { g.forward(g.parameter("x")), g.t.result(g.y).result({g.norm.node, 1}); },
     {},
     "its statistics are used elsewhere"},
    {"rows that somebody reads",
     [](Written& g) { g.forward(g.parameter("x")), g.t.result(g.y).result(g.squeezed); },
     {},
     "the rows are used elsewhere"},
    {"a gradient whose forward ran in another function",
     [](Written& g) {
       const Edge saved = g.parameter("saved");
       const Edge rows = g.t.node("Reshape", {g.parameter("x"), g.ints({4}, {1, kRows, kLength, 1})});
       const Edge dx = g.t.node("FusedBatchNormGradV3", {rows, rows, g.number(1), saved, saved, saved}, g.type, 5);
       g.with_format(dx, "NCHW"), g.t.result(dx);
     },
     {},
     "its forward is not in the function"},
};

TEST(FuseLayerNorm, BeforeAndAfter) {
  for (const Row& row : kTable) {
    SCOPED_TRACE(row.what);
    Written graph;
    row.build(graph);
    const FusionOutcome got = outcome_of(graph.t, fuse_layer_norm);
    EXPECT_EQ(got.fused, row.fused);
    EXPECT_EQ(got.count.effective, static_cast<int64_t>(row.fused.size()));
    EXPECT_EQ(got.count.declined.size(), row.declined == nullptr ? 0u : 1u);
    if (row.declined != nullptr) {
      EXPECT_EQ(got.count.declined.count(row.declined), 1u);
    }
  }
}

TEST(FuseLayerNorm, BatchNormIsAnother) {
  for (const bool images : {true, false}) {
    Written graph;
    graph.forward(graph.parameter("x"));
    if (images)
      graph.with_format(graph.norm, "NHWC");
    else
      (*graph.t.function())[graph.norm.node].inputs[1] = graph.parameter("scale");
    graph.t.result(graph.y);
    EXPECT_EQ(outcome_of(graph.t, fuse_layer_norm).count.matched, 0);
  }
}

// ---- what is computed

/// y, dx, dgamma, dbeta.
std::vector<std::vector<double>> computed(DType dtype, bool fuse, std::string* report = nullptr) {
  Written g(dtype);
  g.forward_of_arguments(true, true);
  g.t.result(g.y), g.gradient(g.parameter("dy"));
  WatchedLibrary library(0);
  if (!fuse) library.switch_off({"layer_norm"});
  Program program;
  program.add(g.t.function());
  library.add(program);
  std::vector<std::vector<double>> out;
  const std::vector<Value> values{wave(dtype, kShape, 0), wave(dtype, {kLength}, 1), wave(dtype, {kLength}, 2),
                                  wave(dtype, kShape, 3)};
  for (const Value& v : library.get("f", Role::kRoot)->run(values)) out.push_back(doubles(v));
  if (report != nullptr) *report = library.report().text();
  return out;
}

TEST(FusedLayerNorm, IsAsNearToFloat64AsItsParts) {
  const auto exact = computed(DType::kDouble, false);
  for (const DType dtype : {DType::kFloat, DType::kHalf}) {
    std::string report;
    const auto fused = computed(dtype, true, &report), parts = computed(dtype, false);
    EXPECT_NE(report.find("fused by layer_norm: 2 of 2"), std::string::npos) << report;
    EXPECT_EQ(report.find("fused in vain"), std::string::npos) << report;
    ASSERT_EQ(fused.size(), 4u);
    for (size_t i = 0; i < 4; ++i) {
      ASSERT_EQ(fused[i].size(), exact[i].size());
      const double mine = distance(fused[i], exact[i]), theirs = distance(parts[i], exact[i]);
      EXPECT_LE(mine, theirs + 1e-6) << "result " << i << " of " << name_of(dtype);
      EXPECT_GT(mine, 0) << i;
    }
  }
}

TEST(FusedLayerNorm, OtherShapesRunItsParts) {
  Written g;
  g.forward_of_arguments(true, false), g.t.result(g.y);
  WatchedLibrary library(0);
  Program program;
  program.add(g.t.function());
  library.add(program);
  // One gamma for all elements of a row is no row of them.
  const auto got = library.get("f", Role::kRoot)->run({wave(DType::kFloat, kShape, 0), wave(DType::kFloat, {}, 1)});
  EXPECT_EQ(got[0].tensor.shape, kShape);
  EXPECT_NE(library.report().text().find("fused in vain: 1 node: gamma or beta is no row"), std::string::npos)
      << library.report().text();
}

}  // namespace
}  // namespace npu::graph
