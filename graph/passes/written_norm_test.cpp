// SPDX-License-Identifier: Apache-2.0
// Layer normalisation written as what it consists of: what becomes one node, what is left and why, and what is computed
// then.
#include <gtest/gtest.h>

#include "graph/dump/watched_library.h"
#include "graph/graph_fixture.h"
#include "graph/passes/fusion_fixture.h"
#include "graph/passes/pipeline.h"
#include "graph/run/executable.h"

namespace npu::graph {
namespace {

const Dims kShape{5, 7, 70};
constexpr double kEpsilon = 0.25;  // large, so that one that is lost shows

enum class Way { kPower, kSquare, kProduct };

/// The nodes that torch exports for LayerNorm before opset 17.
class Written {
 public:
  explicit Written(DType dtype = DType::kFloat) : type(ValueType::tensor(dtype)) {}

  void build(Edge input, Edge gamma = {}, Edge beta = {}, const std::vector<int32_t>& along = {-1}) {
    x = input, mean = average(x, along);
    centred = t.node("Sub", {x, mean}, type);
    square = squared();
    variance = average(square, along_variance.empty() ? along : along_variance);
    const Edge epsilon = number(kEpsilon);
    root =
        t.node("Sqrt",
               {t.node("AddV2", turned ? std::vector{epsilon, variance} : std::vector{variance, epsilon}, type)}, type);
    y = t.node("RealDiv", {centred, root}, type);
    if (gamma.node >= 0) y = t.node("Mul", {y, gamma}, type);
    if (beta.node >= 0) y = t.node("AddV2", {y, beta}, type);
  }
  Edge squared() {
    if (way == Way::kProduct) return t.node("Mul", {centred, centred}, type);
    if (way == Way::kSquare) return t.node("Square", {centred}, type);
    return t.node("Pow", {centred, number(exponent)}, type);
  }
  Edge average(Edge of, const std::vector<int32_t>& along) {
    const Edge axes = t.constant<int32_t>({static_cast<int64_t>(along.size())}, along);
    const Edge out = t.node("Mean", {of, axes}, type);
    t.with(out, "keep_dims", keeps);
    return out;
  }
  Edge number(double value) {
    if (type.dtype == DType::kDouble) return t.constant<double>({}, {value});
    if (type.dtype == DType::kHalf) return t.constant<Half>({}, {Half(static_cast<float>(value))});
    return t.constant<float>({}, {static_cast<float>(value)});
  }
  Edge parameter(const std::string& name) { return t.argument(name, type); }
  void of_arguments(const std::vector<int32_t>& along = {-1}) {
    const Edge input = parameter("x"), gamma = parameter("g"), beta = parameter("b");
    build(input, gamma, beta, along);
    t.result(y);
  }

  TestFunction t{"f"};
  const ValueType type;
  Way way = Way::kPower;
  bool turned = false, keeps = true;
  double exponent = 2;
  std::vector<int32_t> along_variance = {};
  Edge x, mean, centred, square, variance, root, y;
};

struct Row {
  const char* what;
  void (*build)(Written&);
  const char* fused;     ///< null: nothing
  const char* declined;  ///< why one is left; null: none is
};

constexpr const char* kWhole = "_FusedLayerNorm of Mean Sub Pow Mean AddV2 Sqrt RealDiv Mul AddV2, 7 in, 1 out";

const Row kTable[] = {
    {"as torch writes it", [](Written& w) { w.of_arguments(); }, kWhole, nullptr},
    {"alone", [](Written& w) { w.build(w.parameter("x")), w.t.result(w.y); },
     "_FusedLayerNorm of Mean Sub Pow Mean AddV2 Sqrt RealDiv, 5 in, 1 out", nullptr},
    {"two axes", [](Written& w) { w.of_arguments({-2, -1}); }, kWhole, nullptr},
    {"a product with itself for the square", [](Written& w) { w.way = Way::kProduct, w.of_arguments(); },
     "_FusedLayerNorm of Mean Sub Mul Mean AddV2 Sqrt RealDiv Mul AddV2, 6 in, 1 out", nullptr},
    {"a square", [](Written& w) { w.way = Way::kSquare, w.of_arguments(); },
     "_FusedLayerNorm of Mean Sub Square Mean AddV2 Sqrt RealDiv Mul AddV2, 6 in, 1 out", nullptr},
    {"epsilon first", [](Written& w) { w.turned = true, w.of_arguments(); }, kWhole, nullptr},
    {"gamma that is computed is no part of it",
     [](Written& w) { w.build(w.parameter("x"), w.t.node("Exp", {w.parameter("g")})), w.t.result(w.y); },
     "_FusedLayerNorm of Mean Sub Pow Mean AddV2 Sqrt RealDiv, 5 in, 1 out", nullptr},
    {"a third power", [](Written& w) { w.exponent = 3, w.of_arguments(); }, nullptr, nullptr},
    {"means along different axes", [](Written& w) { w.along_variance = {0}, w.of_arguments(); }, nullptr, nullptr},
    {"means that drop their axes", [](Written& w) { w.keeps = false, w.of_arguments(); }, nullptr, nullptr},
    {"a variance that somebody reads", [](Written& w) { w.of_arguments(), w.t.result(w.variance); }, nullptr,
     "its parts are used elsewhere"},
    {"a difference that somebody reads", [](Written& w) { w.of_arguments(), w.t.result(w.centred); }, nullptr,
     "its parts are used elsewhere"},
    {"a quotient of something else",
     [](Written& w) { w.t.result(w.t.node("RealDiv", {w.parameter("x"), w.parameter("g")})); }, nullptr, nullptr},
};

TEST(FuseWrittenLayerNorm, Table) {
  for (const Row& row : kTable) {
    SCOPED_TRACE(row.what);
    Written written;
    row.build(written);
    const FusionOutcome outcome = outcome_of(written.t, fuse_written_layer_norm);
    EXPECT_EQ(outcome.fused, row.fused == nullptr ? std::vector<std::string>{} : std::vector<std::string>{row.fused});
    if (row.declined != nullptr) {
      ASSERT_EQ(outcome.count.declined.size(), 1u);
      EXPECT_EQ(outcome.count.declined.begin()->first, row.declined);
    } else {
      EXPECT_TRUE(outcome.count.declined.empty());
    }
  }
}

std::vector<double> computed(Written& written, const Dims& row, bool fuse, std::string* report = nullptr,
                             const Dims& shape = kShape) {
  WatchedLibrary library(0);
  if (!fuse) library.switch_off({"written_layer_norm"});
  Program program;
  program.add(written.t.function());
  library.add(program);
  const DType dtype = written.type.dtype;
  const auto got =
      library.get("f", Role::kRoot)->run({wave(dtype, kShape, 0), wave(dtype, row, 1), wave(dtype, row, 2)});
  if (report != nullptr) *report = library.report().text();
  EXPECT_EQ(got[0].tensor.shape, shape);
  return doubles(got[0]);
}

TEST(FusedWrittenLayerNorm, IsAsNearToFloat64AsItsParts) {
  for (const bool two : {false, true}) {
    const std::vector<int32_t> along = two ? std::vector<int32_t>{-2, -1} : std::vector<int32_t>{2};
    const Dims row = two ? Dims{7, 70} : Dims{70};
    const auto run = [&](DType dtype, bool fuse, std::string* report = nullptr) {
      Written written(dtype);
      written.of_arguments(along);
      return computed(written, row, fuse, report);
    };
    const auto exact = run(DType::kDouble, false);
    EXPECT_LE(distance(run(DType::kDouble, true), exact), 1e-14);
    for (const DType dtype : {DType::kFloat, DType::kHalf}) {
      std::string report;
      const auto fused = run(dtype, true, &report), parts = run(dtype, false);
      EXPECT_NE(report.find("fused by written_layer_norm: 1 of 1"), std::string::npos) << report;
      EXPECT_EQ(report.find("fused in vain"), std::string::npos) << report;
      EXPECT_LE(distance(fused, exact), distance(parts, exact) + 1e-6) << name_of(dtype);
    }
  }
}

TEST(FusedWrittenLayerNorm, OtherAxesAndShapesRunItsParts) {
  Written first, single;
  first.of_arguments({0});
  single.of_arguments();
  std::string report;
  Written again;
  again.of_arguments({0});
  EXPECT_EQ(computed(first, {70}, true, &report), computed(again, {70}, false));
  EXPECT_NE(report.find("fused in vain: 1 node: its rows are not the last axes"), std::string::npos) << report;
  Written wide, wide_again;
  wide.of_arguments(), wide_again.of_arguments();
  EXPECT_EQ(computed(wide, {1, 1, 1, 70}, true, &report, {1, 5, 7, 70}),
            computed(wide_again, {1, 1, 1, 70}, false, nullptr, {1, 5, 7, 70}));
  EXPECT_NE(report.find("fused in vain: 1 node: gamma or beta has more axes than x"), std::string::npos) << report;
  computed(single, {}, true, &report);
  EXPECT_NE(report.find("fused in vain: 1 node: gamma or beta is no row"), std::string::npos) << report;
}

}  // namespace
}  // namespace npu::graph
