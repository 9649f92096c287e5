// SPDX-License-Identifier: Apache-2.0
// Numbers of uint64 whose highest bit is set, which are negative as int64: order and quotients, against C++'s own.
#include <gtest/gtest.h>

#include "graph/import/onnx/onnx_fixture.h"

namespace npu::graph::onnx {
namespace {

constexpr uint64_t kHigh = uint64_t{1} << 63;

double of(const char* op, uint64_t x, uint64_t y) {
  OnnxNode node(op, 13);
  return node.input<uint64_t>({1}, {x}).input<uint64_t>({1}, {y}).run()[0].numbers.at(0);
}

TEST(OnnxUnsigned, IsInOrderBeyondSixtyThreeBits) {
  for (const uint64_t x : {uint64_t{0}, uint64_t{7}, kHigh - 1, kHigh, kHigh + 5, ~uint64_t{0}})
    for (const uint64_t y : {uint64_t{7}, kHigh, ~uint64_t{0}}) {
      SCOPED_TRACE(fmt::format("{} and {}", x, y));
      EXPECT_EQ(of("Less", x, y), x < y);
      EXPECT_EQ(of("LessOrEqual", x, y), x <= y);
      EXPECT_EQ(of("Greater", x, y), x > y);
      EXPECT_EQ(of("GreaterOrEqual", x, y), x >= y);
      EXPECT_EQ(of("Equal", x, y), x == y);
      EXPECT_EQ(of("Max", x, y), static_cast<double>(std::max(x, y)));
      EXPECT_EQ(of("Min", x, y), static_cast<double>(std::min(x, y)));
      EXPECT_EQ(of("Div", x, y), static_cast<double>(x / y));
      EXPECT_EQ(of("Mod", x, y), static_cast<double>(x % y));
    }
}

TEST(OnnxUnsigned, HasNoSign) {
  const auto one = [](const char* op, auto&& more) {
    OnnxNode node(op, 13);
    node.input<uint64_t>({3}, {1, kHigh + 4096, kHigh});
    more(node);
    return node.run()[0].numbers;
  };
  const double high = static_cast<double>(kHigh), more = static_cast<double>(kHigh + 4096);
  EXPECT_EQ(one("Abs", [](OnnxNode&) {}), (std::vector<double>{1, more, high}));
  EXPECT_EQ(one("Sign", [](OnnxNode&) {}), (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(one("Clip", [](OnnxNode& n) { n.constant<uint64_t>({}, {2}); }), (std::vector<double>{2, more, high}));
  EXPECT_EQ(one("Cast", [](OnnxNode& n) { n.set("to", 11); }), (std::vector<double>{1, more, high}));
  EXPECT_EQ(one("ReduceMax", [](OnnxNode& n) { n.set("keepdims", 0); }), (std::vector<double>{more}));
  EXPECT_EQ(one("ReduceMin", [](OnnxNode& n) { n.set("keepdims", 0); }), (std::vector<double>{1}));
  EXPECT_EQ(one("ArgMax", [](OnnxNode& n) { n.set("axis", 0); }), (std::vector<double>{1}));
  EXPECT_EQ(one("TopK", [](OnnxNode& n) { n.constant<int64_t>({1}, {2}); }), (std::vector<double>{more, high}));
}

}  // namespace
}  // namespace npu::graph::onnx
