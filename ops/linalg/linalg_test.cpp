// SPDX-License-Identifier: Apache-2.0
// Refusals, and what a case against a reference does not show: singular matrices, factors of awkward ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>

#include "ops/call_fixture.h"

namespace npu::ops {
namespace {

Array matrix(const Dims& shape, const std::vector<float>& values) {
  Array made(DType::kFloat, shape);
  std::copy(values.begin(), values.end(), made.tensor().as<float>());
  return made;
}

TEST(Linalg, AMatrixWithoutAnInverseIsNamed) {
  const Array a = matrix({2, 2, 2}, {1, 0, 0, 1, 1, 2, 2, 4}), out(DType::kFloat, {2, 2, 2});
  Call call("inverse");
  call.set("self", a.tensor()).set("out", out.tensor()).prepare();
  try {
    call.compute();
    FAIL() << "the second matrix is singular";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.message()).find("matrix 1 of self"), std::string::npos) << error.message();
  }
}

TEST(Linalg, AMatrixThatIsNotPositiveDefiniteIsNamed) {
  const float nan = NAN;
  for (const float corner : {3.0F, nan}) {
    const Array a = matrix({2, 2, 2}, {1, 0, 0, 1, 1, 2, 2, corner}), out(DType::kFloat, {2, 2, 2});
    Call call("cholesky");
    call.set("self", a.tensor()).set("upper", true).set("out", out.tensor()).prepare();
    try {
      call.compute();
      FAIL() << "the second matrix is not positive definite";
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.message()),
                "matrix 1 of self (float32[2x2x2]) is not positive definite: its leading minor of order 2 is not");
    }
  }
}

TEST(Linalg, DeterminantOfASingularMatrix) {
  const Array a = matrix({2, 2}, {1, 2, 2, 4}), sign(DType::kFloat, {}), log(DType::kFloat, {});
  Call("slogdet").set("self", a.tensor()).set("sign", sign.tensor()).set("log", log.tensor()).run();
  EXPECT_EQ(sign.values()[0], 0);
  EXPECT_EQ(log.values()[0], -HUGE_VAL);
}

// A matrix of rank 1: the vectors of the values that are zero must still be orthonormal.
TEST(Linalg, SingularVectorsOfARankDeficientMatrix) {
  const Array a = matrix({3, 3}, {1, 2, 3, 2, 4, 6, 3, 6, 9});
  const Array s(DType::kFloat, {3}), u(DType::kFloat, {3, 3}), v(DType::kFloat, {3, 3});
  Call("svd").set("self", a.tensor()).set("S", s.tensor()).set("U", u.tensor()).set("V", v.tensor()).run();
  EXPECT_NEAR(s.values()[0], 14, 1e-5);
  EXPECT_NEAR(s.values()[1], 0, 1e-5);
  for (const Array* m : {&u, &v}) {
    const std::vector<double> x = m->values();
    for (size_t i = 0; i < 3; ++i) {
      for (size_t j = 0; j < 3; ++j) {
        EXPECT_NEAR(x[i] * x[j] + x[3 + i] * x[3 + j] + x[6 + i] * x[6 + j], i == j ? 1 : 0, 1e-5);
      }
    }
  }
}

// Tall, wide and square: A = U diag(S) V^H with vectors of length 1, orthogonal to each other.
TEST(Linalg, ComplexMatricesAreMadeOfTheirSingularVectors) {
  for (const Dims& shape : {Dims{3, 2}, Dims{2, 3}, Dims{3, 3}}) {
    const int64_t m = shape[0], n = shape[1], k = std::min(m, n);
    const Array a(DType::kComplex64, shape), s(DType::kFloat, {k}), u(DType::kComplex64, {m, k}),
        v(DType::kComplex64, {n, k});
    auto* x = a.tensor().as<Complex64>();
    for (int64_t i = 0; i < m * n; ++i) x[i] = {static_cast<float>(i % 4) - 1.5F, static_cast<float>(i * 7 % 5) - 2};
    Call("svd").set("self", a.tensor()).set("S", s.tensor()).set("U", u.tensor()).set("V", v.tensor()).run();
    const auto *left = u.tensor().as<Complex64>(), *right = v.tensor().as<Complex64>();
    const auto* values = s.tensor().as<float>();
    for (int64_t i = 0; i < m * n; ++i) {
      Complex64 sum = 0;
      for (int64_t c = 0; c < k; ++c) sum += left[i / n * k + c] * values[c] * std::conj(right[i % n * k + c]);
      EXPECT_NEAR(std::abs(sum - x[i]), 0, 1e-5) << "element " << i;
    }
    for (const auto& [vectors, length] : {std::pair{left, m}, std::pair{right, n}}) {
      for (int64_t c = 0; c < k * k; ++c) {
        Complex64 product = 0;
        for (int64_t i = 0; i < length; ++i) product += std::conj(vectors[i * k + c / k]) * vectors[i * k + c % k];
        EXPECT_NEAR(std::abs(product - Complex64(c / k == c % k ? 1 : 0)), 0, 1e-5);
      }
    }
  }
}

TEST(Linalg, RefusalsNameShapes) {
  const Array wide(DType::kFloat, {2, 3}), square(DType::kFloat, {3, 3}), line(DType::kFloat, {3});
  const Array whole(DType::kInt64, {3, 3});
  EXPECT_EQ(Call("inverse").set("self", wide.tensor()).set("out", wide.tensor()).refusal(),
            "self is float32[2x3]; it must be a square matrix or a batch of them");
  EXPECT_EQ(Call("inverse").set("self", whole.tensor()).set("out", whole.tensor()).refusal(),
            "self is int64[3x3]; it must have a real floating-point dtype");
  EXPECT_EQ(Call("qr").set("self", line.tensor()).set("R", line.tensor()).refusal(),
            "self is float32[3]; it must have 2 dimensions or more, the last two being a matrix");
  Call solve("triangular_solve");
  solve.set("self", wide.tensor()).set("A", square.tensor()).set("X", wide.tensor()).set("M", square.tensor());
  EXPECT_EQ(solve.refusal(), "A is float32[3x3], self is float32[2x3]: the sizes 3 and 2 of the equations differ");
  Call distances("cdist");
  distances.set("x1", wide.tensor()).set("x2", wide.tensor()).set("out", square.tensor()).set("p", -2.0);
  EXPECT_EQ(distances.refusal(), "out is float32[3x3], expected shape 2x2");
}

}  // namespace
}  // namespace npu::ops
