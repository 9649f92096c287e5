// SPDX-License-Identifier: Apache-2.0
// Operators of language models, against what ONNX's own reference (onnx 1.23, NumPy) gave for the same ramps.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "graph/import/onnx/onnx_fixture.h"

namespace npu::graph::onnx {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Numbers that rise by `step`, fall back at `turn`, begin at -`below`, over `over`.
std::vector<float> ramp(const Dims& shape, int64_t step = 7, int64_t turn = 11, int64_t below = 5, double over = 4) {
  std::vector<float> out;
  for (int64_t i = 0; i < count_of(shape); ++i)
    out.push_back(static_cast<float>(static_cast<double>(i * step % turn - below) / over));
  return out;
}

/// Of numbers near 1: float's rounding over sums of a few products, and the six digits that are written here.
void expect_near(const std::vector<double>& got, const std::vector<double>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_TRUE(got[i] == wanted[i] || std::abs(got[i] - wanted[i]) < 2e-6)
        << "element " << i << " is " << got[i] << ", not " << wanted[i];
}

/// Four heads of queries on two of keys, a past of one position, a mask that is added, causal and capped.
OnnxNode shared_heads() {
  OnnxNode node("Attention", 24);
  node.input<float>({1, 4, 2, 2}, ramp({1, 4, 2, 2})).input<float>({1, 2, 2, 2}, ramp({1, 2, 2, 2}, 5));
  node.input<float>({1, 2, 2, 3}, ramp({1, 2, 2, 3}, 3, 13)).input<float>({2, 3}, ramp({2, 3}, 3, 5, 2, 2));
  node.input<float>({1, 2, 1, 2}, ramp({1, 2, 1, 2}, 4)).input<float>({1, 2, 1, 3}, ramp({1, 2, 1, 3}, 2, 7, 3));
  return node.set("scale", 0.5).set("is_causal", 1).set("softcap", 1.5).set("qk_matmul_output_mode", 2);
}

TEST(OnnxAttention, SharesHeadsAndContinuesAPast) {
  const auto got = shared_heads().run(4);
  EXPECT_EQ(got[0].shape, (Dims{1, 4, 2, 3}));
  expect_near(got[0].numbers, {-1.162395, -0.456198, 0.25,     -0.806923, -0.22337, 0.20103,  -1.151628, -0.450814,
                               0.25,      -0.424671, 0.187158, 0.006006,  0.131305, 0.531158, 1.23739,   0.457287,
                               -0.238303, 0.330999,  0.143441, 0.510931,  1.213117, 0.384376, -0.124614, 0.468012});
  expect_near(got[1].numbers, {-1.25, -0.25, -1.25, 0, 1.25, -0.25, 0.75, -1, 1, -0.5, 0.75, -0.75});
  expect_near(got[2].numbers,
              {-0.75, -0.25, 0.25, -1.25, -0.5, 0.25, 1, 1.75, -0.75, 0.75, -0.5, 0, 0, 0.75, 1.5, -1, -0.25, 0.5});
  EXPECT_EQ(got[3].shape, (Dims{1, 4, 2, 3}));
  expect_near(got[3].numbers,
              {-0.331636,  1.217514,  -kInfinity, 1.155687,  0.308056,   -1.454065, -1.062464,  0.344313,
               -kInfinity, 0.408822,  -0.591178,  -0.408822, -1.693176,  -0.143087, -kInfinity, 1.510098,
               0.18653,    -0.632622, -0.574498,  0.867378,  -kInfinity, 1.337856,  0.537536,   -0.632622});
}

/// Three axes; a mask of bools that is shorter than the keys; a query that sees no key gives zeros.
TEST(OnnxAttention, CountsOnlyTheKeysThereAre) {
  OnnxNode node("Attention", 24);
  node.input<float>({2, 2, 4}, ramp({2, 2, 4})).input<float>({2, 3, 4}, ramp({2, 3, 4}, 5));
  node.input<float>({2, 3, 4}, ramp({2, 3, 4}, 3, 13)).input<bool, uint8_t>({2, 2}, {1, 1, 0, 1});
  node.left_out().left_out().input<int64_t>({2}, {3, 1});
  node.set("is_causal", 1).set("q_num_heads", 2).set("kv_num_heads", 2).set("qk_matmul_output_mode", 3);
  const auto got = node.run(4);
  EXPECT_EQ(got[0].shape, (Dims{2, 2, 4}));
  expect_near(got[0].numbers, {-0.941329, -0.525723, 0.141476, 0.891476, 1.75, -0.75, 0, 0.75, 0, 0, 0, 0, 0, 0, 0, 0});
  expect_near(got[3].numbers,
              {0.89711, 0.10289, 0, 0, 1, 0, 0.565906, 0.434094, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
}

TEST(OnnxAttention, SeesThroughAWindow) {
  OnnxNode node("Attention", 25);
  node.input<float>({1, 1, 4, 2}, ramp({4, 2})).input<float>({1, 1, 4, 2}, ramp({4, 2}, 5));
  node.input<float>({1, 1, 4, 2}, ramp({4, 2}, 3, 13)).set("left_window_size", 1).set("right_window_size", 0);
  expect_near(node.run()[0].numbers, {-1.25, -0.5, -0.876753, -0.126753, 1.033124, 0.086355, 0.952139, -0.066119});
}

TEST(OnnxAttention, RefusesWhatDoesNotFit) {
  const auto text = [](OnnxNode node) { return node.refusal(4); };
  const auto plain = [](const Dims& q, const Dims& k, const Dims& v) {
    OnnxNode node("Attention", 23);
    node.input<float>(q, ramp(q)).input<float>(k, ramp(k)).input<float>(v, ramp(v));
    return node;
  };
  EXPECT_NE(text(plain({1, 3, 2, 2}, {1, 2, 2, 2}, {1, 2, 2, 2})).find("must be a multiple"), std::string::npos);
  EXPECT_NE(text(plain({1, 2, 2, 2}, {1, 2, 2, 3}, {1, 2, 2, 3})).find("do not fit together"), std::string::npos);
  EXPECT_NE(text(plain({1, 2, 4}, {1, 2, 4}, {1, 2, 4})).find("q_num_heads is 0"), std::string::npos);
  EXPECT_NE(text(plain({1, 2}, {1, 2}, {1, 2})).find("must have 3 or 4 axes"), std::string::npos);
  EXPECT_NE(text(shared_heads().set("left_window_size", -2)).find("left_window_size is -2"), std::string::npos);
  OnnxNode wide = plain({1, 1, 2, 2}, {1, 1, 2, 2}, {1, 1, 2, 2});
  EXPECT_NE(text(wide.input<float>({2, 3}, ramp({2, 3}))).find("attn_mask is"), std::string::npos);
}

TEST(OnnxRotaryEmbedding, TurnsNeighboursOfSomePositions) {
  OnnxNode node("RotaryEmbedding", 23);
  node.input<float>({1, 2, 2, 6}, ramp({24})).input<float>({5, 2}, ramp({10}, 3)).input<float>({5, 2}, ramp({10}, 2));
  node.input<int64_t>({1, 2}, {3, 1}).set("interleaved", 1).set("rotary_embedding_dim", 4);
  expect_near(node.run()[0].numbers,
              {-0.125, 1.5,   0,      1.8125,  0.25,  -0.75, 0.25,  -0.25, -1.1875, 0.5,     -0.25, -1.25,
               -0.25,  -0.75, 1.6875, -0.3125, -0.75, 1,     -0.25, -0.25, 0.8125,  -0.0625, -1.25, 0.5});
  OnnxNode beyond("RotaryEmbedding", 23);
  beyond.input<float>({1, 1, 1, 4}, ramp({4})).input<float>({5, 2}, ramp({10})).input<float>({5, 2}, ramp({10}));
  EXPECT_NE(beyond.input<int64_t>({1, 1}, {5}).refusal().find("position_ids holds 5"), std::string::npos);
}

TEST(OnnxRotaryEmbedding, TurnsHalvesOfHeadsThatStandBehindEachOther) {
  OnnxNode node("RotaryEmbedding", 23);
  node.input<float>({1, 2, 8}, ramp({16})).input<float>({1, 2, 2}, ramp({4}, 3)).input<float>({1, 2, 2}, ramp({4}, 2));
  expect_near(OnnxNode(node).set("num_heads", 2).run()[0].numbers,
              {0.9375, 0.6875, 2.1875, -1, 0.9375, 0.375, -1.5625, 0.5625, -0.3125, 1.0625, 0.1875, -1.0625, 0.4375,
               -0.5625, 0.1875, 0.125});
  EXPECT_NE(node.refusal().find("num_heads is 0"), std::string::npos);
}

TEST(OnnxRmsNormalization, TakesTheMeanOfTheLastAxes) {
  OnnxNode node("RMSNormalization", 23);
  node.input<float>({2, 2, 3}, ramp({12})).input<float>({3}, ramp({3}, 2, 5, 1)).set("axis", 1).set("epsilon", 0.5);
  expect_near(node.run()[0].numbers, {0.284287, 0.113715, -0.341144, -0.284287, 0.056857, -0.511716, -0.228416, 0,
                                      -0.685248, -0.171312, -0.057104, -0.85656});
}

TEST(OnnxSwish, IsItsInputTimesASigmoid) {
  OnnxNode node("Swish", 24);
  node.input<float>({4}, ramp({4})).set("alpha", 1.5);
  expect_near(node.run()[0].numbers, {-0.166205, 0.339589, -0.160411, 1.083795});
}

TEST(OnnxTensorScatter, WritesPositionsOfACache) {
  const auto node = [](std::vector<int64_t> starts, const char* mode) {
    OnnxNode out("TensorScatter", 24);
    out.input<float>({2, 3, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
    out.input<float>({2, 2, 2}, {-1, -2, -3, -4, -5, -6, -7, -8}).input<int64_t>({2}, std::move(starts));
    return out.set("mode", mode);
  };
  EXPECT_EQ(node({2, 1}, "circular").run()[0].numbers,
            (std::vector<double>{-3, -4, 2, 3, -1, -2, 6, 7, -5, -6, -7, -8}));
  EXPECT_EQ(node({0, 1}, "linear").run()[0].numbers, (std::vector<double>{-1, -2, -3, -4, 4, 5, 6, 7, -5, -6, -7, -8}));
  EXPECT_NE(node({2, 1}, "linear").refusal().find("do not fit a cache of 3"), std::string::npos);
}

/// onnxruntime 1.24 gives the same; the last box ends outside of the image, whose cells there are empty.
TEST(OnnxMaxRoiPool, TakesTheLargestOfEachCell) {
  OnnxNode node("MaxRoiPool", 13);
  std::vector<float> x;
  for (int i = 0; i < 24; ++i) x.push_back(static_cast<float>(i % 7 - 3));
  node.input<float>({1, 2, 3, 4}, x);
  node.input<float>({3, 5}, {0, 0, 0, 3, 2, 0, 1, 1, 2, 2, 0, -2, 0, 1, 9});
  EXPECT_EQ(OnnxNode(node).set("pooled_shape", std::vector<int64_t>{2, 2}).run()[0].numbers,
            (std::vector<double>{2, 3, 2, 3, 3, 2, 3, 2, 2, 3, -1, 0, 0, 1, -3, -2, 0, 2, 0, 0, 0, 3, 0, 0}));
  EXPECT_EQ(OnnxNode(node).set("pooled_shape", std::vector<int64_t>{1, 2}).set("spatial_scale", 0.5).run()[0].numbers,
            (std::vector<double>{2, 3, 3, 3, 2, 2, 0, 0, 1, 2, 3, 3}));
  EXPECT_NE(node.refusal().find("pooled_shape"), std::string::npos);
}

}  // namespace
}  // namespace npu::graph::onnx
