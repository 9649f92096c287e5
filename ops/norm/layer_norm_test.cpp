// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "ops/call_fixture.h"

namespace npu::ops {
namespace {

struct Shape {
  int64_t rows, length;
};

class LayerNormRows : public testing::TestWithParam<Shape> {
 protected:
  Shape s = GetParam();
  std::mt19937 rng{11};
  std::vector<float> random(int64_t count, float mean) {
    std::normal_distribution<float> normal(mean, 1);
    std::vector<float> data(static_cast<size_t>(count));
    for (float& v : data) v = normal(rng);
    return data;
  }
  Tensor matrix(std::vector<float>& data) const { return make_tensor(data.data(), DType::kFloat, {s.rows, s.length}); }
  Tensor row(std::vector<float>& data) const { return make_tensor(data.data(), DType::kFloat, {s.length}); }
  Tensor column(std::vector<float>& data) const { return make_tensor(data.data(), DType::kFloat, {s.rows, 1}); }
};

TEST_P(LayerNormRows, GradientsOfTheParametersMatchADoubleLoop) {
  std::vector<float> x = random(s.rows * s.length, 5), g = random(s.rows * s.length, 0), y = x, gx = x;
  std::vector<float> w = random(s.length, 1), b = random(s.length, 0), gw(w.size()), gb(w.size());
  std::vector<float> mean(static_cast<size_t>(s.rows)), rstd(mean.size());
  const std::vector<int64_t> shape{s.length};
  Call("layer_norm")
      .set("self", matrix(x))
      .set("normalized_shape", shape)
      .set("weight", row(w))
      .set("bias", row(b))
      .set("out", matrix(y))
      .set("mean", column(mean))
      .set("rstd", column(rstd))
      .run();
  Call("layer_norm_backward")
      .set("grad_output", matrix(g))
      .set("self", matrix(x))
      .set("normalized_shape", shape)
      .set("mean", column(mean))
      .set("rstd", column(rstd))
      .set("weight", row(w))
      .set("grad_input", matrix(gx))
      .set("grad_weight", row(gw))
      .set("grad_bias", row(gb))
      .run();
  for (int64_t i = 0; i < s.length; i += 7) {
    double weight = 0, bias = 0;
    for (int64_t r = 0; r < s.rows; ++r) {
      const auto k = static_cast<size_t>(r * s.length + i);
      const double unit = (x[k] - double(mean[size_t(r)])) * rstd[size_t(r)];
      ASSERT_NEAR(y[k], unit * w[size_t(i)] + b[size_t(i)], 1e-5);
      weight += g[k] * unit;
      bias += g[k];
    }
    ASSERT_NEAR(gw[size_t(i)], weight, 1e-5 * static_cast<double>(s.rows) + 1e-5);
    ASSERT_NEAR(gb[size_t(i)], bias, 1e-5 * static_cast<double>(s.rows) + 1e-5);
  }
}

TEST_P(LayerNormRows, GradientsWithStatisticsTakenAgain) {
  std::vector<float> x = random(s.rows * s.length, 5), g = random(s.rows * s.length, 0), y = x;
  std::vector<float> w = random(s.length, 1), mean(static_cast<size_t>(s.rows)), rstd(mean.size());
  const std::vector<int64_t> shape{s.length};
  Call("layer_norm")
      .set("self", matrix(x))
      .set("normalized_shape", shape)
      .set("out", matrix(y))
      .set("mean", column(mean))
      .set("rstd", column(rstd))
      .run();
  std::vector<float> gx[2] = {x, x}, gw[2] = {w, w}, gb[2] = {w, w};
  for (const bool saved : {true, false}) {
    Call call(saved ? "layer_norm_backward" : "layer_norm_gradient");
    if (saved) call.set("mean", column(mean)).set("rstd", column(rstd));
    call.set("grad_output", matrix(g)).set("self", matrix(x)).set("normalized_shape", shape).set("weight", row(w));
    call.set("grad_input", matrix(gx[saved])).set("grad_weight", row(gw[saved])).set("grad_bias", row(gb[saved])).run();
  }
  // Saved ones were rounded to floats.
  for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(gx[0][i], gx[1][i], 1e-5 * (1 + std::abs(gx[1][i])));
  for (size_t i = 0; i < w.size(); ++i) ASSERT_NEAR(gw[0][i], gw[1][i], 1e-4 * (1 + std::abs(gw[1][i])));
  EXPECT_EQ(gb[0], gb[1]);
}

INSTANTIATE_TEST_SUITE_P(Shapes, LayerNormRows,
                         testing::Values(Shape{3, 5}, Shape{700, 64}, Shape{2, 9001}, Shape{513, 770}, Shape{1, 1}));

TEST(LayerNorm, RefusesAnotherShapeThanTheLastSizes) {
  std::vector<float> x(6), y(6);
  Call call("layer_norm");
  call.set("self", make_tensor(x.data(), DType::kFloat, {2, 3}))
      .set("out", make_tensor(y.data(), DType::kFloat, {2, 3}));
  EXPECT_THROW(call.set("normalized_shape", std::vector<int64_t>{2}).prepare(), Error);
  EXPECT_THROW(call.set("normalized_shape", std::vector<int64_t>{}).prepare(), Error);
  EXPECT_THROW(call.set("normalized_shape", std::vector<int64_t>{1, 2, 3}).prepare(), Error);
}

TEST(RmsNorm, OfASumWritesTheSum) {
  std::vector<float> a{1, 2, 3, 4}, b{2, 2, 1, 0}, gamma{1, 2}, y(4), sum(4), rstd(2);
  const auto matrix = [](std::vector<float>& v) { return make_tensor(v.data(), DType::kFloat, {2, 2}); };
  Call("rms_norm")
      .set("self", matrix(a))
      .set("residual", matrix(b))
      .set("eps", 0.0)
      .set("gamma", make_tensor(gamma.data(), DType::kFloat, {2}))
      .set("out", matrix(y))
      .set("sum", matrix(sum))
      .set("rstd", make_tensor(rstd.data(), DType::kFloat, {2, 1}))
      .run();
  EXPECT_EQ(sum, (std::vector<float>{3, 4, 4, 4}));
  EXPECT_NEAR(rstd[0], 1 / std::sqrt(12.5), 1e-6);
  EXPECT_NEAR(y[3], 2, 1e-6);
}

}  // namespace
}  // namespace npu::ops
