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
};

void fill(const Array& to, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  to.each([&](int64_t offset) { to.tensor().as<float>()[offset] = normal(engine); });
}

ConvShape shape_of(const Case& k) {
  ConvShape s{.n = k.n, .c = k.c, .o = k.o};
  s.in = {1, k.high, k.wide}, s.out = {1, k.high + 2 * k.pad - 2, k.wide + 2 * k.pad - 2};
  s.kernel = {1, 3, 3}, s.pad = {0, k.pad, k.pad};
  return s;
}

std::unique_ptr<ConvKernel> made(const ConvShape& s, bool kept = true) {
  const std::vector<size_t> last{0, 2, 3, 1};
  const Array src(DType::kFloat, {s.n, s.c, s.in[1], s.in[2]}, last), weight(DType::kFloat, {s.o, s.c, 3, 3});
  const Array dst(DType::kFloat, {s.n, s.o, s.out[1], s.out[2]}, last);
  const ConvTensors t{src.tensor(), weight.tensor(), Tensor(), dst.tensor(), kept};
  return make_winograd_conv(ConvPass::kForward, s, t);
}

/// One number of the result: image n, channel o, line y, column x.
double pixel(const ConvShape& s, const ConvTensors& t, int64_t n, int64_t o, int64_t y, int64_t x) {
  double sum = t.bias.defined() ? t.bias.as<float>()[o] : 0;
  for (int64_t c = 0; c < s.c; ++c) {
    for (int64_t i = 0; i < 9; ++i) {
      const int64_t row = y + i / 3 - s.pad[1], col = x + i % 3 - s.pad[2];
      if (row < 0 || col < 0 || row >= s.in[1] || col >= s.in[2]) continue;
      sum += static_cast<double>(t.src.as<float>()[((n * s.in[1] + row) * s.in[2] + col) * s.c + c]) *
             t.weight.as<float>()[(o * s.c + c) * 9 + i];
    }
  }
  return sum;
}

void expect_convolution(const Case& k, bool bias) {
  SCOPED_TRACE(fmt::format("{} images {}x{} of {} channels to {}, padded by {}", k.n, k.high, k.wide, k.c, k.o, k.pad));
  const ConvShape s = shape_of(k);
  const std::vector<size_t> last{0, 2, 3, 1};
  const Array src(DType::kFloat, {s.n, s.c, s.in[1], s.in[2]}, last), weight(DType::kFloat, {s.o, s.c, 3, 3});
  const Array add(DType::kFloat, {s.o}), dst(DType::kFloat, {s.n, s.o, s.out[1], s.out[2]}, last);
  fill(src, 1), fill(weight, 2), fill(add, 3);
  const ConvTensors t{src.tensor(), weight.tensor(), bias ? add.tensor() : Tensor(), dst.tensor(), true};
  const auto kernel = make_winograd_conv(ConvPass::kForward, s, t);
  ASSERT_NE(kernel, nullptr);
  kernel->run(t, nullptr);
  // Numbers are sums of 9 c products of variance 1. The way there and back adds up to 16 of them and rounds twice more.
  const double unit = std::ldexp(std::sqrt(9.0 * static_cast<double>(s.c)), -24);
  const std::vector<double> got = dst.values();
  const int64_t image = s.out[1] * s.out[2];
  for (int64_t i = 0; i < dst.tensor().count(); ++i) {
    const int64_t n = i / (s.o * image), o = i / image % s.o, at = i % image;
    const double wanted = pixel(s, t, n, o, at / s.out[2], at % s.out[2]);
    ASSERT_NEAR(got[static_cast<size_t>(i)], wanted, 32 * unit) << "element " << i;
  }
}

TEST(Winograd, IsTheConvolution) {
  if (made(shape_of({1, 64, 64, 20, 20, 1})) == nullptr) GTEST_SKIP() << "oneDNN has no such kernels for this CPU";
  expect_convolution({1, 64, 64, 20, 20, 1}, true);
  expect_convolution({2, 32, 96, 13, 17, 0}, false);   // the last tiles are cut
  expect_convolution({3, 48, 96, 9, 11, 2}, true);     // more zeros around than the filter reaches over
  expect_convolution({1, 64, 256, 14, 14, 1}, false);  // some of the channels at a time
}

TEST(Winograd, LeavesOthersWhatItCannot) {
  const ConvShape fits = shape_of({1, 64, 64, 20, 20, 1});
  EXPECT_EQ(made(fits, false), nullptr) << "weights may change";
  ConvShape other = fits;
  other.dilation = {1, 2, 2}, other.pad = {0, 2, 2};
  EXPECT_EQ(made(other), nullptr) << "dilated";
  EXPECT_EQ(made(shape_of({1, 24, 64, 20, 20, 1})), nullptr) << "channels that are no whole vectors";
  EXPECT_EQ(made(shape_of({1, 512, 512, 7, 7, 1})), nullptr) << "few pixels and many weights";
}

}  // namespace
}  // namespace npu::ops
