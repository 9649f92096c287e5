// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "ops/call_fixture.h"

namespace npu::ops {
namespace {

std::vector<float> noise(int64_t count, float mean) {
  std::mt19937 rng(5);
  std::normal_distribution<float> normal(mean, 2);
  std::vector<float> data(static_cast<size_t>(count));
  for (float& v : data) v = normal(rng);
  return data;
}

// [N, C, L] with the channels between (false) or innermost in memory (true).
Tensor layout(std::vector<float>& data, int64_t n, int64_t c, int64_t l, bool channels_last) {
  if (!channels_last) return make_tensor(data.data(), DType::kFloat, {n, c, l});
  return make_tensor(data.data(), DType::kFloat, {n, l, c}).transposed(1, 2);
}

struct Shape {
  int64_t n, c, l;
  bool channels_last;
};

class BatchNormTraining : public testing::TestWithParam<Shape> {
 protected:
  Shape s = GetParam();
  std::vector<float> x = noise(s.n * s.c * s.l, 30), y = x, g = noise(s.n * s.c * s.l, 0.1f), gx = x;
  std::vector<float> mean = std::vector<float>(static_cast<size_t>(s.c)), invstd = mean, gw = mean, gb = mean;
  Tensor view(std::vector<float>& data) const { return layout(data, s.n, s.c, s.l, s.channels_last); }
  Tensor channel(std::vector<float>& data) const { return make_tensor(data.data(), DType::kFloat, {s.c}); }
  size_t at(int64_t n, int64_t c, int64_t l) const {
    return static_cast<size_t>(s.channels_last ? (n * s.l + l) * s.c + c : (n * s.c + c) * s.l + l);
  }
  template <class F>
  double mean_over(int64_t c, F&& value) const {
    double sum = 0;
    for (int64_t n = 0; n < s.n; ++n) {
      for (int64_t l = 0; l < s.l; ++l) sum += value(at(n, c, l));
    }
    return sum / static_cast<double>(s.n * s.l);
  }
};

TEST_P(BatchNormTraining, MatchesALoopInDouble) {
  Call("batch_norm")
      .set("self", view(x))
      .set("training", true)
      .set("out", view(y))
      .set("save_mean", channel(mean))
      .set("save_invstd", channel(invstd))
      .run();
  Call("batch_norm_backward")
      .set("grad_output", view(g))
      .set("self", view(x))
      .set("training", true)
      .set("save_mean", channel(mean))
      .set("save_invstd", channel(invstd))
      .set("grad_input", view(gx))
      .set("grad_weight", channel(gw))
      .set("grad_bias", channel(gb))
      .run();
  for (int64_t c = 0; c < s.c; ++c) {
    const auto i = static_cast<size_t>(c);
    const double m = mean_over(c, [&](size_t k) { return double(x[k]); });
    const double var = mean_over(c, [&](size_t k) { return (x[k] - m) * (x[k] - m); });
    const double r = 1 / std::sqrt(var + 1e-5);
    ASSERT_NEAR(mean[i], m, 1e-5 * 30);
    ASSERT_NEAR(invstd[i], r, 1e-5);
    const double sum = mean_over(c, [&](size_t k) { return double(g[k]); });
    const double dot = mean_over(c, [&](size_t k) { return g[k] * (x[k] - m) * r; });
    const auto count = static_cast<double>(s.n * s.l);
    ASSERT_NEAR(gb[i], sum * count, 1e-4 * std::sqrt(count) * 5);
    ASSERT_NEAR(gw[i], dot * count, 1e-4 * std::sqrt(count) * 5);
    for (int64_t l = 0; l < s.l; ++l) {
      const size_t k = at(s.n - 1, c, l);
      const double unit = (x[k] - m) * r;
      ASSERT_NEAR(y[k], unit, 1e-5);
      ASSERT_NEAR(gx[k], r * (g[k] - sum - unit * dot), 1e-5);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, BatchNormTraining,
                         testing::Values(Shape{4, 3, 50, false}, Shape{2, 70, 9000, false}, Shape{3, 5, 40000, false},
                                         Shape{50, 33, 49, false}, Shape{4, 64, 700, true}, Shape{2, 600, 90, true},
                                         Shape{900, 17, 1, false}, Shape{4000, 80, 1, true}));

TEST(BatchNorm, UpdatesRunningStatisticsWithTheUnbiasedVariance) {
  std::vector<float> x{1, 3}, y(2), running_mean{10}, running_var{20};
  Call("batch_norm")
      .set("self", make_tensor(x.data(), DType::kFloat, {2, 1}))
      .set("training", true)
      .set("momentum", 0.5)
      .set("running_mean", make_tensor(running_mean.data(), DType::kFloat, {1}))
      .set("running_var", make_tensor(running_var.data(), DType::kFloat, {1}))
      .set("out", make_tensor(y.data(), DType::kFloat, {2, 1}))
      .run();
  EXPECT_EQ(running_mean[0], 6);
  EXPECT_EQ(running_var[0], 11);
}

TEST(BatchNorm, EqualElementsGiveExactlyTheBias) {
  std::vector<float> x(3000, 0.1f), y(3000);
  Call("batch_norm")
      .set("self", make_tensor(x.data(), DType::kFloat, {3, 1, 1000}))
      .set("training", true)
      .set("out", make_tensor(y.data(), DType::kFloat, {3, 1, 1000}))
      .run();
  for (const float v : y) ASSERT_EQ(v, 0);
}

TEST(BatchNorm, RefusesWhatDoesNotFit) {
  std::vector<float> x(6), y(6), two(2);
  Call call("batch_norm");
  call.set("self", make_tensor(x.data(), DType::kFloat, {6})).set("out", make_tensor(y.data(), DType::kFloat, {6}));
  EXPECT_THROW(call.prepare(), Error);  // no channel axis
  call.set("self", make_tensor(x.data(), DType::kFloat, {2, 3}))
      .set("out", make_tensor(y.data(), DType::kFloat, {2, 3}));
  EXPECT_THROW(call.prepare(), Error);  // evaluation without statistics
  call.set("training", true).set("weight", make_tensor(two.data(), DType::kFloat, {2}));
  EXPECT_THROW(call.prepare(), Error);  // two weights, three channels
  EXPECT_THROW(call.set("out", make_tensor(y.data(), DType::kFloat, {3, 2})).prepare(), Error);
}

}  // namespace
}  // namespace npu::ops
