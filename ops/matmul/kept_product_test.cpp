// SPDX-License-Identifier: Apache-2.0
// Against sums in float64. Small multiples of 1/8 have exact sums in float32 too, so every bit is known.
#include "ops/matmul/kept_product.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ops/call_fixture.h"

namespace npu::ops {
namespace {

using Shape = KeptProduct::Shape;

float eighths(int64_t i) { return static_cast<float>((i * 37 + i / 11) % 17 - 8) / 8; }

std::vector<float> numbers(int64_t count, int64_t seed) {
  std::vector<float> out(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) out[static_cast<size_t>(i)] = eighths(i + seed);
  return out;
}

double element(const Shape& s, const KeptProduct::Operands& o, int64_t row, int64_t col) {
  double sum = s.bias ? o.bias[col] : 0;
  for (int64_t i = 0; i < s.k; ++i) {
    sum += static_cast<double>(o.a[row * s.k + i]) * o.b[s.trans_b ? col * s.ldb + i : i * s.ldb + col];
  }
  return sum;
}

void expect_product(const Shape& s) {
  SCOPED_TRACE(fmt::format("[{}, {}] [{}, {}] transposed {} bias {}", s.m, s.k, s.k, s.n, s.trans_b, s.bias));
  const auto product = KeptProduct::make(s);
  if (product == nullptr) GTEST_SKIP() << "oneDNN has no such kernels for this CPU";
  const std::vector<float> a = numbers(s.m * s.k, 1), bias = numbers(s.n, 3);
  std::vector<float> b = numbers((s.trans_b ? s.n : s.k) * s.ldb, 2), c(static_cast<size_t>(s.m * s.n), NAN);
  std::vector<int> after(static_cast<size_t>(s.m));
  const KeptProduct::Operands o{a.data(), b.data(), bias.data(), c.data()};
  for (int turn = 0; turn < 2; ++turn) {
    product->run(o, [&](const cube::Tile& t) {
      EXPECT_EQ(t.cols, s.n);
      for (int64_t row = t.row; row < t.row + t.rows; ++row) ++after[static_cast<size_t>(row)];
    });
  }
  EXPECT_EQ(after, std::vector<int>(after.size(), 2));
  for (int64_t i = 0; i < s.m * s.n; ++i) {
    ASSERT_EQ(c[static_cast<size_t>(i)], element(s, o, i / s.n, i % s.n)) << "element " << i;
  }
}

TEST(KeptProduct, IsTheProduct) {
  expect_product({128, 96, 64, 96, false, false});
  expect_product({128, 96, 64, 64, true, true});
  expect_product({37, 33, 21, 50, false, true});  // nothing divides anything, and rows of b lie apart
  expect_product({300, 24, 500, 512, true, false});
}

TEST(KeptProduct, LeavesAReadingOfTheRightOperandToOthers) {
  EXPECT_EQ(KeptProduct::make({1, 1024, 1024, 1024, false, false}), nullptr);
  EXPECT_EQ(KeptProduct::make({128, 1, 1024, 1024, true, false}), nullptr);
}

}  // namespace
}  // namespace npu::ops
