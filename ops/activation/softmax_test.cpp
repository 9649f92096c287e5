// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "ops/call_fixture.h"

namespace npu::ops {
namespace {

struct Line {
  int64_t outer, length, inner;  // softmax along the middle dimension
};

std::vector<float> noise(int64_t count) {
  std::mt19937 rng(3);
  std::uniform_real_distribution<float> uniform(-8, 8);
  std::vector<float> data(static_cast<size_t>(count));
  for (float& v : data) v = uniform(rng);
  return data;
}

class Softmax : public testing::TestWithParam<Line> {};

TEST_P(Softmax, MatchesALoopInDouble) {
  const auto [outer, length, inner] = GetParam();
  std::vector<float> x = noise(outer * length * inner), y(x.size()), z(x.size());
  const Dims shape{outer, length, inner};
  const Tensor self = make_tensor(x.data(), DType::kFloat, shape);
  Call("softmax")
      .set("self", self)
      .set("dim", int64_t{1})
      .set("out", make_tensor(y.data(), DType::kFloat, shape))
      .run();
  Call("log_softmax")
      .set("self", self)
      .set("dim", int64_t{-2})
      .set("out", make_tensor(z.data(), DType::kFloat, shape))
      .run();
  for (int64_t line = 0; line < outer * inner; ++line) {
    const int64_t first = line / inner * length * inner + line % inner;
    double sum = 0;
    for (int64_t i = 0; i < length; ++i) sum += std::exp(x[static_cast<size_t>(first + i * inner)]);
    for (int64_t i = 0; i < length; ++i) {
      const auto at = static_cast<size_t>(first + i * inner);
      ASSERT_NEAR(y[at], std::exp(x[at]) / sum, 1e-6);
      ASSERT_NEAR(z[at], x[at] - std::log(sum), 4e-6);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Lines, Softmax,
                         testing::Values(Line{3, 1000, 1}, Line{2, 10, 1}, Line{500, 10, 1}, Line{2, 40, 64},
                                         Line{3, 7, 100}, Line{1, 9001, 1}, Line{4, 300, 3}, Line{2, 0, 5}));

TEST(SoftmaxGradient, OfAUniformGradientIsZero) {
  std::vector<float> y(100, 0.01f), g(100, 3.0f), out(100, 7.0f);
  const Dims shape{1, 100};
  Call("softmax_backward")
      .set("grad_output", make_tensor(g.data(), DType::kFloat, shape))
      .set("output", make_tensor(y.data(), DType::kFloat, shape))
      .set("dim", int64_t{1})
      .set("grad_input", make_tensor(out.data(), DType::kFloat, shape))
      .run();
  for (const float v : out) ASSERT_NEAR(v, 0, 1e-7);
}

TEST(SoftmaxErrors, NameShapesAndCure) {
  std::vector<float> a(6), b(6);
  std::vector<int32_t> whole(6);
  Call call("softmax");
  call.set("self", make_tensor(a.data(), DType::kFloat, {2, 3})).set("dim", int64_t{1});
  EXPECT_THROW(call.set("out", make_tensor(b.data(), DType::kFloat, {3, 2})).prepare(), Error);
  EXPECT_THROW(call.set("out", make_tensor(whole.data(), DType::kInt32, {2, 3})).prepare(), Error);
  call.set("out", make_tensor(b.data(), DType::kFloat, {2, 3}));
  EXPECT_THROW(call.set("dim", int64_t{2}).prepare(), Error);
}

}  // namespace
}  // namespace npu::ops
