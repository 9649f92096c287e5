// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "ops/call_fixture.h"

namespace npu::ops {
namespace {

struct Case {
  DType dtype;
  int64_t rows, cols, depth, items;
  double tolerance;
};

std::vector<Tensor> tensors_of(const std::vector<Array>& arrays) {
  std::vector<Tensor> out;
  for (const Array& array : arrays) out.push_back(array.tensor());
  return out;
}

std::vector<double> oracle(const Case& c, const std::vector<Array>& left, const std::vector<Array>& right,
                           std::vector<double> sum) {
  for (size_t item = 0; item < left.size(); ++item) {
    const std::vector<double> a = left[item].values(), b = right[item].values();
    for (int64_t i = 0; i < c.rows * c.cols; ++i)
      for (int64_t p = 0; p < c.depth; ++p)
        sum[static_cast<size_t>(i)] +=
            a[static_cast<size_t>(i / c.cols * c.depth + p)] * b[static_cast<size_t>(p * c.cols + i % c.cols)];
  }
  return sum;
}

TEST(ProductSum, EveryDtypeAndLayout) {
  for (const Case& c : {Case{DType::kFloat, 5, 7, 4, 3, 1e-6}, Case{DType::kFloat, 64, 256, 64, 9, 1e-5},
                        Case{DType::kFloat, 1, 33, 20, 4, 1e-6}, Case{DType::kFloat, 300, 40, 70, 3, 1e-5},
                        Case{DType::kDouble, 33, 48, 17, 5, 1e-14}, Case{DType::kHalf, 9, 8, 6, 3, 4e-3},
                        Case{DType::kBFloat16, 9, 8, 6, 3, 3e-2}, Case{DType::kInt64, 4, 5, 6, 3, 0},
                        Case{DType::kFloat, 6, 5, 0, 3, 0}}) {
    for (int layout = 0; layout < 8; ++layout) {
      const std::vector<size_t> rows{0, 1}, columns{1, 0};
      std::vector<Array> left, right;  // an array that is copied keeps the memory of the first
      left.reserve(static_cast<size_t>(c.items)), right.reserve(static_cast<size_t>(c.items));
      for (int64_t i = 0; i < c.items; ++i) {
        left.push_back(
            Array(c.dtype, {c.rows, c.depth}, layout & 1 ? columns : rows, layout & 4 ? 3 : 0).random(10 + i));
        right.push_back(
            Array(c.dtype, {c.depth, c.cols}, layout & 2 ? columns : rows, layout & 4 ? 5 : 0).random(20 + i));
      }
      const Array out = Array(c.dtype, {c.rows, c.cols}).random(3);
      const std::vector<double> want = oracle(c, left, right, out.values());
      Call("product_sum").set("left", tensors_of(left)).set("right", tensors_of(right)).set("out", out.tensor()).run();
      const std::vector<double> got = out.values();
      for (size_t i = 0; i < want.size(); ++i)
        ASSERT_NEAR(got[i], want[i], c.tolerance * (1 + std::fabs(want[i])))
            << name_of(c.dtype) << " " << c.rows << "x" << c.cols << "x" << c.depth << " " << layout;
    }
  }
}

TEST(ProductSum, NothingToAddLeavesTheSum) {
  const Array out = Array(DType::kFloat, {2, 3}).random(1);
  const std::vector<double> before = out.values();
  Call("product_sum")
      .set("left", std::vector<Tensor>())
      .set("right", std::vector<Tensor>())
      .set("out", out.tensor())
      .run();
  EXPECT_EQ(out.values(), before);
}

TEST(ProductSum, AnOperandMayLieUnderTheSum) {
  const Array out = Array(DType::kFloat, {3, 3}).random(1), other = Array(DType::kFloat, {3, 3}).random(2);
  const std::vector<double> a = out.values(), b = other.values();
  Call("product_sum")
      .set("left", std::vector<Tensor>{out.tensor()})
      .set("right", std::vector<Tensor>{other.tensor()})
      .set("out", out.tensor())
      .run();
  for (size_t i = 0; i < 9; ++i) {
    double want = a[i];
    for (size_t p = 0; p < 3; ++p) want += a[i / 3 * 3 + p] * b[p * 3 + i % 3];
    EXPECT_NEAR(out.values()[i], want, 1e-5);
  }
}

TEST(ProductSum, RefusesWhatDoesNotFit) {
  const Tensor a = Array(DType::kFloat, {2, 3}).tensor(), b = Array(DType::kFloat, {3, 4}).tensor(),
               out = Array(DType::kFloat, {2, 4}).tensor();
  const auto refusal = [&](std::vector<Tensor> left, std::vector<Tensor> right) {
    return Call("product_sum").set("left", left).set("right", right).set("out", out).refusal();
  };
  EXPECT_EQ(refusal({a, a}, {b}), "left has 2 matrices, right 1; each needs its partner");
  EXPECT_EQ(refusal({a}, {a}), "left holds 2x3, right 2x3: inner sizes differ (3 and 2)");
  EXPECT_EQ(refusal({b}, {Array(DType::kFloat, {4, 4}).tensor()}),
            "out is 2x4, the result is 3x4; give an output of that shape");
  EXPECT_NE(refusal({a, b}, {b, b}).find("all must have one form"), std::string::npos);
}

}  // namespace
}  // namespace npu::ops
