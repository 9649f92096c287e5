// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "ops/call_fixture.h"

namespace npu::ops {
namespace {

// Half an ulp of the output's dtype for the one rounding, and for float sums a growth with the depth.
double tolerance(DType dtype, int64_t k) {
  switch (dtype) {
    case DType::kHalf: return 0x1p-11;
    case DType::kBFloat16: return 0x1p-8;
    case DType::kFloat: return 1e-7 * (4 + std::sqrt(static_cast<double>(k)));
    default: return 1e-14;
  }
}

// [batch, m, k] x [batch, k, n] in float64 on row-major values; batch strides of 0 repeat.
std::vector<double> oracle(const std::vector<double>& a, const std::vector<double>& b, int64_t batch, int64_t m,
                           int64_t n, int64_t k) {
  std::vector<double> out(static_cast<size_t>(batch * m * n));
  const int64_t step_a = static_cast<int64_t>(a.size()) == m * k ? 0 : m * k;
  const int64_t step_b = static_cast<int64_t>(b.size()) == k * n ? 0 : k * n;
  for (int64_t i = 0; i < batch * m * n; ++i) {
    const int64_t item = i / (m * n), row = i / n % m, col = i % n;
    for (int64_t p = 0; p < k; ++p) {
      out[static_cast<size_t>(i)] +=
          a[static_cast<size_t>(item * step_a + row * k + p)] * b[static_cast<size_t>(item * step_b + p * n + col)];
    }
  }
  return out;
}

void expect_near(const std::vector<double>& got, const std::vector<double>& want, double tol) {
  ASSERT_EQ(got.size(), want.size());
  double scale = 1;
  for (const double w : want) scale = std::max(scale, std::fabs(w));
  for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], tol * scale) << "element " << i;
}

const std::vector<std::vector<size_t>> kOrders{{0, 1}, {1, 0}};

TEST(Mm, EveryDtypeAndLayout) {
  for (const DType dtype : {DType::kFloat, DType::kHalf, DType::kBFloat16, DType::kDouble, DType::kInt32, DType::kInt64,
                            DType::kInt8, DType::kComplex64}) {
    for (const auto [m, n, k] : {std::array<int64_t, 3>{3, 4, 5}, {70, 33, 41}, {1, 9, 3}, {9, 1, 3}, {4, 4, 1}}) {
      for (int layout = 0; layout < 16; ++layout) {
        const int64_t gap = layout / 8;
        const Array a = Array(dtype, {m, k}, kOrders[layout & 1], gap).random(1);
        const Array b = Array(dtype, {k, n}, kOrders[layout >> 1 & 1], gap).random(2);
        const DType result = dtype == DType::kInt8 ? DType::kInt32 : dtype;
        const Array c(result, {m, n}, kOrders[layout >> 2 & 1], gap);
        Call("mm").set("self", a.tensor()).set("mat2", b.tensor()).set("out", c.tensor()).run();
        expect_near(c.values(), oracle(a.values(), b.values(), 1, m, n, k), tolerance(result, k));
      }
    }
  }
}

TEST(Mm, LargeSizesGoThroughTiles) {
  for (const DType dtype : {DType::kFloat, DType::kHalf, DType::kBFloat16, DType::kDouble}) {
    for (const auto [m, n, k] : {std::array<int64_t, 3>{300, 410, 130}, {20, 30, 9000}}) {
      for (const auto& order : kOrders) {
        const Array a = Array(dtype, {m, k}, order).random(1), b = Array(dtype, {k, n}, order).random(2);
        const Array c(dtype, {m, n}, order);
        Call("mm").set("self", a.tensor()).set("mat2", b.tensor()).set("out", c.tensor()).run();
        expect_near(c.values(), oracle(a.values(), b.values(), 1, m, n, k), tolerance(dtype, k));
      }
    }
  }
}

// Where the CPU multiplies halves faster than floats, these write whole rows; the last part of 700 rows is a short one.
TEST(Mm, TallProductsOfHalves) {
  for (const DType dtype : {DType::kBFloat16, DType::kHalf}) {
    for (const DType result : {dtype, DType::kFloat}) {
      for (const int64_t gap : {0, 3}) {
        for (const int64_t n : {72, 131}) {
          const Array a = Array(dtype, {700, 96}, {0, 1}, gap).random(1),
                      b = Array(dtype, {96, n}, {0, 1}, gap).random(2);
          const Array c(result, {700, n}, {0, 1}, gap);
          Call("mm").set("self", a.tensor()).set("mat2", b.tensor()).set("out", c.tensor()).run();
          expect_near(c.values(), oracle(a.values(), b.values(), 1, 700, n, 96), tolerance(result, 96));
        }
      }
    }
  }
}

TEST(Mm, OutputMayBeWiderThanTheInputs) {
  const Array a = Array(DType::kBFloat16, {6, 300}).random(1), b = Array(DType::kBFloat16, {300, 7}).random(2);
  const Array c(DType::kFloat, {6, 7});
  Call("mm").set("self", a.tensor()).set("mat2", b.tensor()).set("out", c.tensor()).run();
  expect_near(c.values(), oracle(a.values(), b.values(), 1, 6, 7, 300), 1e-6);
}

TEST(Mm, EmptySizes) {
  const Array c = Array(DType::kFloat, {2, 3}).filled(7);
  Call("mm")
      .set("self", Array(DType::kFloat, {2, 0}).tensor())
      .set("mat2", Array(DType::kFloat, {0, 3}).tensor())
      .set("out", c.tensor())
      .run();
  EXPECT_EQ(c.values(), std::vector<double>(6, 0.0));
  Call("mm")
      .set("self", Array(DType::kFloat, {0, 4}).tensor())
      .set("mat2", Array(DType::kFloat, {4, 3}).tensor())
      .set("out", Array(DType::kFloat, {0, 3}).tensor())
      .run();
}

TEST(Mm, OutputMayBeAnInput) {
  for (const DType dtype : {DType::kFloat, DType::kHalf}) {
    const Array a = Array(dtype, {40, 40}).random(1), b = Array(dtype, {40, 40}).random(2);
    const auto want = oracle(a.values(), b.values(), 1, 40, 40, 40);
    Call("mm").set("self", a.tensor()).set("mat2", b.tensor()).set("out", a.tensor()).run();
    expect_near(a.values(), want, tolerance(dtype, 40));
  }
}

TEST(Mm, SaysWhichSizesDiffer) {
  const Array a(DType::kFloat, {3, 4}), b(DType::kFloat, {5, 6}), c(DType::kFloat, {3, 6});
  EXPECT_EQ(Call("mm").set("self", a.tensor()).set("mat2", b.tensor()).set("out", c.tensor()).refusal(),
            "self is 3x4, mat2 is 5x6: inner sizes differ (4 and 5)");
  EXPECT_EQ(
      Call("mm").set("self", a.tensor()).set("mat2", a.tensor().transposed(0, 1)).set("out", c.tensor()).refusal(),
      "out is 3x6, the result is 3x3; give an output of that shape");
  const Array flags(DType::kBool, {3, 3}), d(DType::kFloat, {3, 3});
  EXPECT_EQ(Call("mm").set("self", flags.tensor()).set("mat2", flags.tensor()).set("out", d.tensor()).refusal(),
            "matrix products take float, integer and complex tensors, got bool; cast it first");
  const Array whole(DType::kInt32, {3, 3});
  EXPECT_EQ(Call("mm").set("self", d.tensor()).set("mat2", d.tensor()).set("out", whole.tensor()).refusal(),
            "the product of float32 and float32 does not fit into an output of int32; give one of float32");
}

TEST(Matmul, RankRules) {
  struct Case {
    Dims a, b, out;
    int64_t batch, m, n, k;
  };
  for (const Case& c :
       {Case{{5}, {5}, {}, 1, 1, 1, 5}, Case{{5}, {5, 3}, {3}, 1, 1, 3, 5}, Case{{4, 5}, {5}, {4}, 1, 4, 1, 5},
        Case{{2, 4, 5}, {5}, {2, 4}, 1, 8, 1, 5}, Case{{5}, {2, 5, 3}, {2, 3}, 2, 1, 3, 5},
        Case{{2, 4, 5}, {5, 3}, {2, 4, 3}, 1, 8, 3, 5}, Case{{4, 5}, {2, 5, 3}, {2, 4, 3}, 2, 4, 3, 5},
        Case{{2, 3, 4, 5}, {2, 3, 5, 6}, {2, 3, 4, 6}, 6, 4, 6, 5}}) {
    const Array a = Array(DType::kFloat, c.a).random(1), b = Array(DType::kFloat, c.b).random(2);
    const Array out(DType::kFloat, c.out);
    Call("matmul").set("self", a.tensor()).set("mat2", b.tensor()).set("out", out.tensor()).run();
    expect_near(out.values(), oracle(a.values(), b.values(), c.batch, c.m, c.n, c.k), 1e-6);
  }
}

TEST(Matmul, BatchesBroadcastBothWays) {
  const Array a = Array(DType::kFloat, {3, 1, 4, 5}).random(1), b = Array(DType::kFloat, {1, 2, 5, 6}).random(2);
  const Array out(DType::kFloat, {3, 2, 4, 6});
  Call("matmul").set("self", a.tensor()).set("mat2", b.tensor()).set("out", out.tensor()).run();
  const auto va = a.values(), vb = b.values();
  std::vector<double> want;
  for (int64_t i = 0; i < 3; ++i) {
    for (int64_t j = 0; j < 2; ++j) {
      const auto part = oracle({va.begin() + i * 20, va.begin() + (i + 1) * 20},
                               {vb.begin() + j * 30, vb.begin() + (j + 1) * 30}, 1, 4, 6, 5);
      want.insert(want.end(), part.begin(), part.end());
    }
  }
  expect_near(out.values(), want, 1e-6);
}

TEST(BatchMatmul, LayoutsAndDtypes) {
  for (const DType dtype : {DType::kFloat, DType::kBFloat16, DType::kDouble}) {
    for (const auto& order : std::vector<std::vector<size_t>>{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}}) {
      const Array a = Array(dtype, {7, 20, 30}, order).random(1), b = Array(dtype, {7, 30, 25}, order).random(2);
      const Array c(dtype, {7, 20, 25}, order);
      Call("batch_matmul").set("self", a.tensor()).set("mat2", b.tensor()).set("out", c.tensor()).run();
      expect_near(c.values(), oracle(a.values(), b.values(), 7, 20, 25, 30), tolerance(dtype, 30));
    }
  }
}

// Rows that lie in two steps, as those of transposed sequences, of one row or more each, and not at all in order.
TEST(Matmul, ShortItemsWithOneRightOperand) {
  for (const DType dtype : {DType::kFloat, DType::kBFloat16, DType::kDouble}) {
    for (const auto& order : std::vector<std::vector<size_t>>{{0, 1, 2, 3}, {0, 2, 1, 3}, {2, 1, 0, 3}, {3, 1, 2, 0}}) {
      for (const int64_t rows : {1, 6}) {
        const Array a = Array(dtype, {3, 50, rows, 64}, order).random(1), b = Array(dtype, {64, 40}).random(2);
        const Array c(dtype, {3, 50, rows, 40});
        Call("matmul").set("self", a.tensor()).set("mat2", b.tensor()).set("out", c.tensor()).run();
        expect_near(c.values(), oracle(a.values(), b.values(), 1, 150 * rows, 40, 64), tolerance(dtype, 64));
      }
    }
  }
}

std::vector<double> plus(double alpha, std::vector<double> product, double beta, const std::vector<double>& self) {
  for (size_t i = 0; i < product.size(); ++i) product[i] = alpha * product[i] + beta * self[i % self.size()];
  return product;
}

// c = 2 a b + 3 self
void scale_and_add(const Array& self, const Array& a, const Array& b, const Array& c) {
  Call("addmm")
      .set("self", self.tensor())
      .set("mat1", a.tensor())
      .set("mat2", b.tensor())
      .set("out", c.tensor())
      .set("alpha", Scalar(2))
      .set("beta", Scalar(3))
      .run();
}

TEST(Addmm, BiasBroadcastsAndScales) {
  for (const DType dtype : {DType::kFloat, DType::kHalf, DType::kDouble, DType::kInt64}) {
    for (const Dims& bias : {Dims{40, 30}, Dims{30}, Dims{1, 30}, Dims{}, Dims{1}}) {
      const Array a = Array(dtype, {40, 20}).random(1), b = Array(dtype, {20, 30}, {1, 0}).random(2);
      const Array self = Array(dtype, bias).random(3), c(dtype, {40, 30});
      scale_and_add(self, a, b, c);
      expect_near(c.values(), plus(2, oracle(a.values(), b.values(), 1, 40, 30, 20), 3, self.values()),
                  tolerance(dtype, 20));
    }
  }
}

TEST(Addmm, TallProductsOfHalvesAreScaledAndAddedTo) {
  const Array a = Array(DType::kBFloat16, {700, 96}).random(1), b = Array(DType::kBFloat16, {96, 80}).random(2);
  const Array self = Array(DType::kBFloat16, {80}).random(3), c(DType::kBFloat16, {700, 80});
  scale_and_add(self, a, b, c);
  expect_near(c.values(), plus(2, oracle(a.values(), b.values(), 1, 700, 80, 96), 3, self.values()),
              tolerance(DType::kBFloat16, 96));
}

// As linear layers call it, large enough for panels of b; the second product is cut into slices of k.
TEST(Addmm, WeightsStoredByColumns) {
  for (const DType out : {DType::kFloat, DType::kDouble}) {
    for (const auto [m, n, k] : {std::array<int64_t, 3>{310, 430, 131}, {24, 60, 12001}}) {
      const Array a = Array(DType::kFloat, {m, k}).random(1), b = Array(DType::kFloat, {k, n}, {1, 0}).random(2);
      const Array self = Array(DType::kFloat, {n}).random(3), c(out, {m, n});
      scale_and_add(self, a, b, c);
      expect_near(c.values(), plus(2, oracle(a.values(), b.values(), 1, m, n, k), 3, self.values()),
                  tolerance(DType::kFloat, k));
    }
  }
}

TEST(Addmm, InPlaceAndTransposedInPlace) {
  for (const DType dtype : {DType::kFloat, DType::kBFloat16}) {
    for (const auto& order : kOrders) {
      const Array a = Array(dtype, {300, 200}).random(1), b = Array(dtype, {200, 300}).random(2);
      const Array c = Array(dtype, {300, 300}, order).random(3);
      const auto before = c.values();
      const auto product = oracle(a.values(), b.values(), 1, 300, 300, 200);
      Call("addmm")
          .set("self", c.tensor())
          .set("mat1", a.tensor())
          .set("mat2", b.tensor())
          .set("out", c.tensor())
          .set("beta", Scalar(0.5))
          .run();
      expect_near(c.values(), plus(1, product, 0.5, before), tolerance(dtype, 200));
      const auto second = c.values();
      Call("addmm")
          .set("self", c.tensor().transposed(0, 1))
          .set("mat1", a.tensor())
          .set("mat2", b.tensor())
          .set("out", c.tensor())
          .run();
      std::vector<double> turned;
      for (size_t i = 0; i < 90000; ++i) turned.push_back(second[i % 300 * 300 + i / 300]);
      expect_near(c.values(), plus(1, product, 1, turned), tolerance(dtype, 200));
    }
  }
}

TEST(Addmm, BetaZeroIgnoresNan) {
  const Array a = Array(DType::kFloat, {3, 4}).filled(1), b = Array(DType::kFloat, {4, 2}).filled(1);
  const Array self = Array(DType::kFloat, {2}).filled(std::numeric_limits<double>::quiet_NaN()),
              c(DType::kFloat, {3, 2});
  Call("addmm")
      .set("self", self.tensor())
      .set("mat1", a.tensor())
      .set("mat2", b.tensor())
      .set("out", c.tensor())
      .set("beta", Scalar(0))
      .run();
  EXPECT_EQ(c.values(), std::vector<double>(6, 4.0));
  Call("addmm").set("mat1", a.tensor()).set("mat2", b.tensor()).set("out", c.tensor()).run();
  EXPECT_EQ(c.values(), std::vector<double>(6, 4.0));
}

TEST(Addmm, SaysThatSelfDoesNotBroadcast) {
  const Array a(DType::kFloat, {3, 4}), b(DType::kFloat, {4, 2}), self(DType::kFloat, {3}), c(DType::kFloat, {3, 2});
  EXPECT_EQ(Call("addmm")
                .set("self", self.tensor())
                .set("mat1", a.tensor())
                .set("mat2", b.tensor())
                .set("out", c.tensor())
                .refusal(),
            "shapes 3 and 3x2 do not broadcast: sizes 2 and 3 differ and neither is 1");
}

TEST(Baddbmm, AddsPerBatch) {
  const Array a = Array(DType::kHalf, {5, 20, 30}).random(1), b = Array(DType::kHalf, {5, 30, 10}).random(2);
  const Array self = Array(DType::kHalf, {5, 20, 10}).random(3), c(DType::kHalf, {5, 20, 10});
  Call("baddbmm")
      .set("self", self.tensor())
      .set("batch1", a.tensor())
      .set("batch2", b.tensor())
      .set("out", c.tensor())
      .set("alpha", Scalar(0.5))
      .set("beta", Scalar(2))
      .run();
  expect_near(c.values(), plus(0.5, oracle(a.values(), b.values(), 5, 20, 10, 30), 2, self.values()), 0x1p-11);
}

TEST(Addbmm, SumsOverTheBatch) {
  const Array a = Array(DType::kBFloat16, {5, 8, 6}, {1, 0, 2}).random(1),
              b = Array(DType::kBFloat16, {5, 6, 7}).random(2);
  const Array self = Array(DType::kBFloat16, {8, 7}).random(3), c(DType::kBFloat16, {8, 7});
  Call("addbmm")
      .set("self", self.tensor())
      .set("batch1", a.tensor())
      .set("batch2", b.tensor())
      .set("out", c.tensor())
      .run();
  const auto each = oracle(a.values(), b.values(), 5, 8, 7, 6);
  std::vector<double> sum(56);
  for (size_t i = 0; i < each.size(); ++i) sum[i % 56] += each[i];
  expect_near(c.values(), plus(1, sum, 1, self.values()), 0x1p-8);
}

TEST(VectorProducts, MvAddmvDotAddr) {
  for (const DType dtype : {DType::kFloat, DType::kHalf, DType::kDouble}) {
    for (const int64_t gap : {0, 1}) {
      const Array a = Array(dtype, {30, 50}, kOrders[static_cast<size_t>(gap)], gap).random(1);
      const Array x = Array(dtype, {50}, {}, gap).random(2), y = Array(dtype, {30}, {}, gap).random(3);
      const Array out(dtype, {30}, {}, gap);
      const auto product = oracle(a.values(), x.values(), 1, 30, 1, 50);
      Call("mv").set("self", a.tensor()).set("vec", x.tensor()).set("out", out.tensor()).run();
      expect_near(out.values(), product, tolerance(dtype, 50));
      Call("addmv")
          .set("self", y.tensor())
          .set("mat", a.tensor())
          .set("vec", x.tensor())
          .set("out", out.tensor())
          .set("alpha", Scalar(2))
          .set("beta", Scalar(0.5))
          .run();
      expect_near(out.values(), plus(2, product, 0.5, y.values()), tolerance(dtype, 50));
      const Array dot(dtype, {});
      Call("dot").set("self", x.tensor()).set("other", x.tensor()).set("out", dot.tensor()).run();
      expect_near(dot.values(), oracle(x.values(), x.values(), 1, 1, 1, 50), tolerance(dtype, 50));
      const Array c = Array(dtype, {30, 50}, kOrders[static_cast<size_t>(gap)], gap).random(4);
      const auto want = plus(1, oracle(y.values(), x.values(), 1, 30, 50, 1), 3, c.values());
      Call("addr")
          .set("self", c.tensor())
          .set("vec1", y.tensor())
          .set("vec2", x.tensor())
          .set("out", c.tensor())
          .set("beta", Scalar(3))
          .run();
      expect_near(c.values(), want, tolerance(dtype, 1));
    }
  }
}

TEST(Dot, LongVectorsAndRefusal) {
  const int64_t n = 300000;
  const Array out(DType::kFloat, {});
  // Terms of one sign, in one running float, would be off by 1e-4 and more.
  const Array same = Array(DType::kFloat, {n}).filled(0.7123), other = Array(DType::kFloat, {n}).filled(1.3);
  const Array x = Array(DType::kFloat, {n}).random(1), y = Array(DType::kFloat, {n}).random(2);
  for (const auto& [one, two] : {std::pair{&same, &other}, std::pair{&x, &y}}) {
    Call("dot").set("self", one->tensor()).set("other", two->tensor()).set("out", out.tensor()).run();
    const auto a = one->values(), b = two->values();
    double want = 0, size = 0;
    for (size_t i = 0; i < a.size(); ++i) want += a[i] * b[i], size += std::fabs(a[i] * b[i]);
    EXPECT_NEAR(out.values()[0], want, 1e-6 * size);
  }
  const Array z(DType::kFloat, {3});
  EXPECT_EQ(Call("dot").set("self", x.tensor()).set("other", z.tensor()).set("out", out.tensor()).refusal(),
            "self has 300000 elements, other has 3: the numbers must agree");
}

TEST(Product, ARepeatedCallTakesNewAddresses) {
  const Array a = Array(DType::kFloat, {5, 6}).random(1), b = Array(DType::kFloat, {6, 7}).random(2),
              c(DType::kFloat, {5, 7});
  const Array a2 = Array(DType::kFloat, {5, 6}).random(8), c2(DType::kFloat, {5, 7});
  Call call("mm");
  call.set("self", a.tensor()).set("mat2", b.tensor()).set("out", c.tensor()).run();
  call.set("self", a2.tensor()).set("out", c2.tensor()).compute();
  expect_near(c2.values(), oracle(a2.values(), b.values(), 1, 5, 7, 6), 1e-6);
}

}  // namespace
}  // namespace npu::ops
