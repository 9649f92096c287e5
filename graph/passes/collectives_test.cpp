// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "comm/core/gradient_split.h"
#include "graph/graph_fixture.h"
#include "graph/ir/verify.h"
#include "graph/passes/pipeline.h"
#include "graph/run/segments.h"

namespace npu::graph {
namespace {

struct Asked {
  std::string op = "HcomAllReduce";
  Dims shape = {4};
  int64_t fusion = 1, number = -1;
  std::string reduction = "sum", group = "world";
  DType dtype = DType::kFloat;
  int64_t root = 0, tag = -1;
};

/// A backward pass: each gradient is made of the one before, and then all of them are sent.
class Backward {
 public:
  explicit Backward(size_t gradients) : t_("step") {
    Edge from = t_.argument("x");
    for (size_t i = 0; i < gradients; ++i) gradients_.push_back(from = t_.node("Square", {from}));
  }
  Function& f() { return *t_.function(); }
  TestFunction& test() { return t_; }
  const std::vector<Edge>& gradients() const { return gradients_; }

  /// A collective that waits for the one before, as TensorFlow has it, and a reader of its result.
  NodeId send(const Asked& asked, Edge from) {
    const ValueType type = ValueType::tensor(asked.dtype);
    const auto waits = last_ < 0 ? std::vector<NodeId>{} : std::vector<NodeId>{last_};
    const Edge sent = t_.node(asked.op, {from}, type, 1, waits);
    t_.with(sent, "group", asked.group).with(sent, "fusion", asked.fusion).with(sent, "fusion_id", asked.number);
    t_.with(sent, "reduction", asked.reduction).with(sent, "root_rank", asked.root);
    if (asked.tag >= 0) t_.with(sent, "sr_tag", asked.tag);
    f()[sent.node].outputs[0].shape.dims = asked.shape;
    f()[sent.node].stateful = true;
    t_.must_run(sent);
    t_.result(t_.node("Neg", {sent}, type));
    return last_ = sent.node;
  }
  NodeId send(const Asked& asked, size_t gradient) { return send(asked, gradients_[gradient]); }

  /// What goes together after the pass, in the order in which it runs, by the gradients' numbers: "0,1 2".
  std::string joined() {
    Program none;
    count = {};
    fuse_collectives(f(), none, count);
    verify(f(), none);
    std::string out;
    for (const NodeId id : f().order()) {
      if (!f()[id].op.starts_with("Hcom")) continue;
      out += out.empty() ? "" : " ";
      for (const Edge& edge : f()[id].inputs) {
        const std::string& name = f()[edge.node].name;
        const std::string digits = name.starts_with("n_Square_") ? name.substr(9) : name == "n_Square" ? "0" : name;
        out += (&edge == f()[id].inputs.data() ? "" : ",") + digits;
      }
    }
    return out;
  }
  FusionCount count;

 private:
  TestFunction t_;
  std::vector<Edge> gradients_;
  NodeId last_ = -1;
};

class FuseCollectives : public ::testing::Test {
 protected:
  ~FuseCollectives() override { comm::detail::forget_splits(); }
};

std::string joined(const std::vector<Asked>& asked) {
  Backward b(asked.size());
  for (size_t i = 0; i < asked.size(); ++i) b.send(asked[i], i);
  return b.joined();
}

TEST_F(FuseCollectives, GradientsGoInTheSegmentsOfTheirGroup) {
  EXPECT_EQ(joined(std::vector<Asked>(4)), "0,1,2,3");  // the default's cut at 96.54 % of four lies at their end
  comm::split_by_index("world", std::vector<uint32_t>{1, 3});
  EXPECT_EQ(joined(std::vector<Asked>(4)), "0,1 2,3");
  EXPECT_EQ(joined(std::vector<Asked>(5)), "0,1 2,3 4");
  comm::split_by_size("world", std::vector<double>{75, 25});
  EXPECT_EQ(joined(std::vector<Asked>(4)), "0,1,2 3");
  EXPECT_EQ(joined({{.shape = {8}}, {}, {}, {.shape = {0}}, {}}), "0,1,2 3,4");
}

TEST_F(FuseCollectives, GradientsCountInTheOrderInWhichTheyCome) {
  comm::split_by_index("world", std::vector<uint32_t>{0, 3});
  Backward b(4);
  for (const size_t i : {3, 2, 1, 0}) b.send({}, i);  // Keras sends them in the order of the variables
  EXPECT_EQ(b.joined(), "0 1,2,3");
  EXPECT_EQ(b.count.matched, 4);
  EXPECT_EQ(b.count.effective, 3);
  EXPECT_EQ(segments_of(b.f()), std::vector<std::string>{"group world, float32: segment index list: [0,0] [1,3]"});
}

TEST_F(FuseCollectives, EachRunsAsSoonAsItsGradientsAreThere) {
  comm::split_by_index("world", std::vector<uint32_t>{1, 3});
  Backward b(4);
  for (size_t i = 0; i < 4; ++i) b.send({}, i);
  b.joined();
  std::vector<std::string> ops;
  for (const NodeId id : b.f().order())
    if (b.f()[id].op != "Neg") ops.push_back(b.f()[id].op);
  const std::vector<std::string> wanted{"_Argument", "Square", "Square",       "HcomAllReduce",
                                        "Square",    "Square", "HcomAllReduce"};
  EXPECT_EQ(ops, wanted);
}

TEST_F(FuseCollectives, EachReaderGetsItsOwn) {
  Backward b(3);
  for (size_t i = 0; i < 3; ++i) b.send({}, i);
  b.joined();
  for (size_t i = 0; i < 3; ++i) {
    const Node& reader = b.f()[b.f().results[i].value.node];
    const Edge from = reader.inputs.front();
    EXPECT_EQ(b.f()[b.f()[from.node].inputs[static_cast<size_t>(from.output)].node].name,
              i == 0 ? "n_Square" : fmt::format("n_Square_{}", i));
  }
  EXPECT_EQ(b.f().control_results.size(), 1);
}

TEST_F(FuseCollectives, OnlyWhatIsAlikeGoesTogether) {
  EXPECT_EQ(joined({{}, {.fusion = 0}, {}}), "1 0,2");
  EXPECT_EQ(joined({{}, {.reduction = "max"}, {.reduction = "max"}, {}}), "1 2 0,3");
  EXPECT_EQ(joined({{}, {.shape = {kUnknownDim}}, {}}), "1 0,2");
  EXPECT_EQ(joined({{}, {.group = "other"}, {}, {.group = "other"}}), "0,2 1,3");
  EXPECT_EQ(joined({{}, {.dtype = DType::kHalf}, {}, {.dtype = DType::kHalf}}), "0,2 1,3");
  EXPECT_EQ(joined({{}}), "0");
}

TEST_F(FuseCollectives, TheClientsNumberSaysWhatGoesTogether) {
  comm::split_by_index("world", std::vector<uint32_t>{0});
  const Asked one{.fusion = 2, .number = 7}, other{.fusion = 2, .number = 8};
  EXPECT_EQ(joined({one, other, one, other}), "0,2 1,3");
  const auto with = [](Asked asked, const char* op, int64_t root) { return asked.op = op, asked.root = root, asked; };
  const Asked sent = with(one, "HcomBroadcast", 0), from_1 = with(one, "HcomBroadcast", 1);
  EXPECT_EQ(joined({sent, from_1, sent, from_1, sent}), "1,3 0,2,4");
  const Asked reduced = with(one, "HcomReduce", 0);
  EXPECT_EQ(joined({reduced, sent, reduced, sent}), "0,2 1,3");
}

TEST_F(FuseCollectives, OthersOfTheGroupKeepTheirOrder) {
  EXPECT_EQ(joined({{}, {.op = "HcomAllToAllV"}, {}, {.op = "HcomAllGather"}, {}}), "1 3 0,2,4");
  Backward b(3);
  b.send({}, 0);
  const NodeId parts = b.send({.op = "HcomAllToAllV"}, 1);  // which all ranks have
  b.send({}, b.test().node("Mul", {b.gradients()[2], {parts, 0}}));
  EXPECT_EQ(b.joined(), "0 1 n_Mul");
}

// What one rank sends and another receives stands there in the functions of those two only.
TEST_F(FuseCollectives, AMessageKeepsItsPlaceAmongTheCalls) {
  const Asked sent{.op = "HcomSend", .tag = 0};
  EXPECT_EQ(joined({{}, {}, sent, {}, {}}), "0,1 2 3,4");
  EXPECT_EQ(joined({sent, {}, {}, sent}), "0 1,2 3");
  Backward b(4);
  b.send({}, 0);
  const NodeId message = b.send({.op = "HcomReceive", .tag = 0}, 1);
  TestFunction& t = b.test();
  b.send({}, t.node("Mul", {b.gradients()[2], {message, 0}}));
  b.send({}, 3);
  EXPECT_EQ(b.joined(), "0 1 3,n_Mul");
}

TEST_F(FuseCollectives, WhatWaitsForAnotherDoesNotGoWithIt) {
  Backward b(4);
  b.send({}, 0);
  const NodeId norm = b.send({}, 1);  // of all gradients, say
  TestFunction& t = b.test();
  b.send({}, t.node("Mul", {b.gradients()[2], {norm, 0}}));
  b.send({}, t.node("Mul", {b.gradients()[3], {norm, 0}}));
  EXPECT_EQ(b.joined(), "0,1 n_Mul,n_Mul_1");
}

// As when each rank updates a part of the variables, and all of them are sent then.
TEST_F(FuseCollectives, TheOrderIsThatOfTheCallsWhateverARankComputes) {
  for (const int64_t rank : {0, 1}) {
    Backward b(4);
    TestFunction& t = b.test();
    std::vector<Edge> sums;
    for (size_t i = 0; i < 4; ++i) sums.push_back({b.send({}, i), 0});
    for (const int64_t root : {0, 1})
      for (const size_t i : {0, 1})
        b.send({.op = "HcomBroadcast", .fusion = 2, .number = 0, .root = root},
               root == rank ? t.node("Exp", {sums[i]}) : b.gradients()[i]);
    const std::string names = b.joined();
    EXPECT_EQ(names, rank == 0 ? "0,1,2,3 n_Exp,n_Exp_1 0,1" : "0,1,2,3 0,1 n_Exp,n_Exp_1");
  }
}

TEST_F(FuseCollectives, NoneIsLargerThanTheLimit) {
  std::vector<Asked> large(5);
  for (Asked& asked : large)
    asked.shape = {10, 1 << 20}, asked.fusion = 2, asked.number = 0;  // 40 MiB; the limit is 500 MB
  large[2].shape = {12, 10, 1 << 20};
  EXPECT_EQ(joined(large), "0,1 2 3,4");
}

}  // namespace
}  // namespace npu::graph
