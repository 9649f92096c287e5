// SPDX-License-Identifier: Apache-2.0
// Against sums in float64, on normal numbers.
#include <gtest/gtest.h>

#include <random>

#include "ops/call_fixture.h"
#include "ops/conv/kernel.h"

namespace npu::ops {
namespace {

using cube::ConvPass;
using cube::ConvShape;

struct Case {
  int64_t n, c, o, high, wide, pad;
  int64_t taps = 3;
};

void fill(const Array& to, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  to.each([&](int64_t offset) { to.tensor().as<float>()[offset] = normal(engine); });
}

ConvShape shape_of(const Case& k) {
  ConvShape s{.n = k.n, .c = k.c, .o = k.o};
  s.in = {1, k.high, k.wide}, s.out = {1, k.high + 2 * k.pad - k.taps + 1, k.wide + 2 * k.pad - k.taps + 1};
  s.kernel = {1, k.taps, k.taps}, s.pad = {0, k.pad, k.pad};
  return s;
}

const std::vector<size_t> kLast{0, 2, 3, 1}, kRows{}, kOutputsLast{2, 3, 1, 0};

std::unique_ptr<ConvKernel> made(const ConvShape& s, ConvPass pass = ConvPass::kForward, bool first = false) {
  const std::vector<size_t>& images = first ? kRows : kLast;
  const Array src(DType::kFloat, {s.n, s.c, s.in[1], s.in[2]}, images),
      weight(DType::kFloat, {s.o, s.c, s.kernel[1], s.kernel[2]});
  const Array dst(DType::kFloat, {s.n, s.o, s.out[1], s.out[2]}, images);
  return make_winograd_conv(pass, s, {src.tensor(), weight.tensor(), Tensor(), dst.tensor()});
}

/// Calls product(element of src, of weight, of dst) for each product of a convolution.
template <class F>
void each_product(const ConvShape& s, F&& product) {
  for (int64_t n = 0; n < s.n; ++n)
    for (int64_t o = 0; o < s.o; ++o)
      for (int64_t y = 0; y < s.out[1]; ++y)
        for (int64_t x = 0; x < s.out[2]; ++x)
          for (int64_t tap = 0; tap < s.kernel[1] * s.kernel[2]; ++tap) {
            const int64_t row = y + tap / s.kernel[2] - s.pad[1], col = x + tap % s.kernel[2] - s.pad[2];
            if (row < 0 || col < 0 || row >= s.in[1] || col >= s.in[2]) continue;
            for (int64_t c = 0; c < s.c; ++c)
              product(((n * s.c + c) * s.in[1] + row) * s.in[2] + col, (o * s.c + c) * s.kernel[1] * s.kernel[2] + tap,
                      ((n * s.o + o) * s.out[1] + y) * s.out[2] + x);
          }
}

void expect_convolution(const Case& k, ConvPass pass, const std::vector<size_t>& weights, bool bias, bool kept) {
  SCOPED_TRACE(fmt::format("pass {} of {} images {}x{} of {} channels to {}, padded by {}", static_cast<int>(pass), k.n,
                           k.high, k.wide, k.c, k.o, k.pad));
  const ConvShape s = shape_of(k);
  const Array src(DType::kFloat, {s.n, s.c, s.in[1], s.in[2]}, kLast),
      weight(DType::kFloat, {s.o, s.c, s.kernel[1], s.kernel[2]}, weights);
  const Array add(DType::kFloat, {s.o}), dst(DType::kFloat, {s.n, s.o, s.out[1], s.out[2]}, kLast);
  fill(src, 1), fill(weight, 2), fill(add, 3), fill(dst, 4);
  const std::vector<double> x = src.values(), w = weight.values(), y = dst.values(), b = add.values();
  const ConvTensors t{src.tensor(), weight.tensor(), bias ? add.tensor() : Tensor(), dst.tensor(), kept};
  const auto kernel = make_winograd_conv(pass, s, t);
  ASSERT_NE(kernel, nullptr);
  kernel->run(t, nullptr);

  const Array& result = pass == ConvPass::kForward ? dst : pass == ConvPass::kBackwardData ? src : weight;
  std::vector<double> wanted(result.values().size());
  const int64_t image = s.out[1] * s.out[2];
  for (size_t i = 0; bias && i < wanted.size(); ++i) wanted[i] = b[i / static_cast<size_t>(image) % b.size()];
  each_product(s, [&](int64_t of_src, int64_t of_weight, int64_t of_dst) {
    const auto i = static_cast<size_t>(of_src), j = static_cast<size_t>(of_weight), at = static_cast<size_t>(of_dst);
    if (pass == ConvPass::kForward) wanted[at] += x[i] * w[j];
    if (pass == ConvPass::kBackwardData) wanted[i] += y[at] * w[j];
    if (pass == ConvPass::kBackwardWeights) wanted[j] += x[i] * y[at];
  });
  // Numbers are sums of products of variance 1. The way there and back adds up to 16 of them and rounds twice more.
  const int64_t products = pass == ConvPass::kForward        ? s.kernel[1] * s.kernel[2] * s.c
                           : pass == ConvPass::kBackwardData ? s.kernel[1] * s.kernel[2] * s.o
                                                             : s.n * image;
  const double unit = std::ldexp(std::sqrt(static_cast<double>(products)), -24);
  const std::vector<double> got = result.values();
  for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], wanted[i], 32 * unit) << "element " << i;
}

TEST(Winograd, IsTheConvolution) {
  for (const bool kept : {false, true}) {
    for (const auto& weights : {kRows, kLast, kOutputsLast}) {
      expect_convolution({1, 64, 64, 20, 20, 1}, ConvPass::kForward, weights, true, kept);
      expect_convolution({2, 32, 96, 13, 17, 0}, ConvPass::kForward, weights, false, kept);  // the last tiles are cut
      expect_convolution({2, 32, 64, 14, 13, 2, 5}, ConvPass::kForward, weights, true, kept);
    }
    expect_convolution({3, 48, 96, 9, 11, 2}, ConvPass::kForward, kRows, true, kept);  // padded beyond its reach
    expect_convolution({1, 80, 256, 14, 14, 1}, ConvPass::kForward, kOutputsLast, false, kept);  // channels in turn
  }
}

TEST(Winograd, IsTheGradientOfImages) {
  for (const auto& weights : {kRows, kLast, kOutputsLast}) {
    expect_convolution({1, 64, 64, 20, 20, 1}, ConvPass::kBackwardData, weights, false, false);
    expect_convolution({2, 32, 96, 13, 17, 0}, ConvPass::kBackwardData, weights, false, false);
    expect_convolution({2, 32, 64, 14, 13, 2, 5}, ConvPass::kBackwardData, weights, false, false);
  }
  expect_convolution({3, 48, 96, 9, 11, 2}, ConvPass::kBackwardData, kRows, false, false);
  expect_convolution({1, 256, 80, 14, 14, 1}, ConvPass::kBackwardData, kOutputsLast, false, false);
}

TEST(Winograd, IsTheGradientOfWeights) {
  for (const auto& weights : {kRows, kLast, kOutputsLast}) {
    expect_convolution({1, 64, 64, 20, 20, 1}, ConvPass::kBackwardWeights, weights, false, false);
    expect_convolution({2, 32, 96, 13, 17, 0}, ConvPass::kBackwardWeights, weights, false, false);
    expect_convolution({2, 32, 64, 14, 13, 2, 5}, ConvPass::kBackwardWeights, weights, false, false);
    expect_convolution({8, 16, 32, 17, 18, 1, 5}, ConvPass::kBackwardWeights, weights, false, false);
  }
  expect_convolution({4, 32, 48, 31, 33, 1}, ConvPass::kBackwardWeights, kOutputsLast, false, false);  // in ranges
  expect_convolution({3, 48, 96, 9, 11, 2}, ConvPass::kBackwardWeights, kRows, false, false);
  expect_convolution({2, 144, 80, 14, 14, 1}, ConvPass::kBackwardWeights, kLast, false, false);  // in squares
}

TEST(Winograd, LeavesOthersWhatItCannot) {
  const ConvShape fits = shape_of({1, 64, 64, 20, 20, 1});
  for (const ConvPass pass : {ConvPass::kForward, ConvPass::kBackwardData, ConvPass::kBackwardWeights}) {
    EXPECT_NE(made(fits, pass), nullptr);
    EXPECT_EQ(made(fits, pass, true), nullptr) << "channels first";
    ConvShape other = fits;
    other.dilation = {1, 2, 2}, other.pad = {0, 2, 2};
    EXPECT_EQ(made(other, pass), nullptr) << "dilated";
    EXPECT_EQ(made(shape_of({1, 64, 64, 20, 20, 3, 7}), pass), nullptr) << "of 7x7 taps";
    EXPECT_EQ(made(shape_of({1, 24, 64, 20, 20, 1}), pass), nullptr) << "channels that are no whole vectors";
    EXPECT_EQ(made(shape_of({1, 512, 512, 7, 7, 1}), pass), nullptr) << "few pixels and many weights";
  }
}

}  // namespace
}  // namespace npu::ops
