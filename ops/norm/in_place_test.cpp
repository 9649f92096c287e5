// SPDX-License-Identifier: Apache-2.0
// Results that lie where an input does, and fields that stay where a client finds them.
#include <gtest/gtest.h>

#include <cmath>

#include "ops/call_fixture.h"

namespace npu::ops {
namespace {

constexpr int64_t kRows = 5, kLength = 19;

Array rows(unsigned seed) { return Array(DType::kFloat, {kRows, kLength}).random(seed); }

TEST(NormInPlace, TheSumsGradientMayLieWhereTheResultGoes) {
  const Array dy = rows(1), x1 = rows(2), x2 = rows(3), apart = rows(4), out(DType::kFloat, {kRows, kLength});
  const Array same = rows(4);
  const Array gamma = Array(DType::kFloat, {kLength}).random(5), mean(DType::kFloat, {kRows, 1});
  const Array rstd = Array(DType::kFloat, {kRows, 1}).filled(0.5), dgamma(DType::kFloat, {kLength});
  const Array dbeta(DType::kFloat, {kLength});
  const auto run = [&](const Array& grad_sum, const Array& result) {
    Call call("add_layer_norm_grad");
    call.set("grad_output", dy.tensor()).set("x1", x1.tensor()).set("x2", x2.tensor()).set("rstd", rstd.tensor());
    call.set("mean", mean.tensor()).set("gamma", gamma.tensor()).set("grad_sum", grad_sum.tensor());
    call.set("grad_input", result.tensor()).set("grad_gamma", dgamma.tensor()).set("grad_beta", dbeta.tensor()).run();
  };
  run(apart, out);
  run(same, same);
  EXPECT_EQ(same.values(), out.values());
}

/// A repeatable executor puts new addresses into the fields between two calls.
TEST(NormInPlace, TheWiderResultStaysInItsField) {
  const Array x = rows(1), y = rows(2), gamma = Array(DType::kFloat, {kLength}).filled(1);
  const Array half(DType::kHalf, {kRows, kLength}), other(DType::kHalf, {kRows, kLength}), wide = rows(3);
  Call call("rms_norm");
  call.set("self", x.tensor()).set("residual", y.tensor()).set("gamma", gamma.tensor());
  call.set("out", half.tensor()).set("cast", wide.tensor()).prepare();
  call.set("out", other.tensor()).run();
  const std::vector<double> exact = wide.values(), rounded = other.values();
  EXPECT_NE(exact, rows(3).values());
  for (size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(rounded[i], exact[i], 1e-3 * std::abs(exact[i]) + 1e-4);
}

/// Variances that are 0 but for rounding.
TEST(SyncBatchNorm, EqualNumbersHaveNoNegativeVariance) {
  const Array counts = Array(DType::kFloat, {3}).filled(7);
  const Array sum = Array(DType::kFloat, {3, 4}).filled(7 * 1000.1);
  const Array squares = Array(DType::kFloat, {3, 4}).filled(7 * 1000.1 * 1000.1 * (1 - 1e-6));
  const Array mean(DType::kFloat, {4}), invstd(DType::kFloat, {4});
  Call("batch_norm_gather_sums")
      .set("sum", sum.tensor())
      .set("square_sum", squares.tensor())
      .set("counts", counts.tensor())
      .set("eps", 0.25)
      .set("out_mean", mean.tensor())
      .set("out_invstd", invstd.tensor())
      .run();
  for (const double value : invstd.values()) EXPECT_EQ(value, 2);
}

}  // namespace
}  // namespace npu::ops
