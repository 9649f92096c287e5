// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "ops/call_fixture.h"

namespace npu::ops {
namespace {

struct Apply : testing::Test {
  std::vector<float> var{1, 2, 3, 4}, accum{1, 1, 1, 1}, grad{1, 2, 3, 4}, lr{0.5f}, momentum{0.5f};
  std::vector<int64_t> rows{1, 1};

  static Tensor tensor(std::vector<float>& values, const Dims& shape) {
    return make_tensor(values.data(), DType::kFloat, shape);
  }
  Call call(const Dims& shape) {
    Call made("apply_momentum");
    made.set("var", tensor(var, shape)).set("accum", tensor(accum, shape)).set("grad", tensor(grad, shape));
    made.set("lr", tensor(lr, {})).set("momentum", tensor(momentum, {}));
    return made;
  }
};

TEST_F(Apply, OneStepOfMomentum) {
  call({4}).run();
  EXPECT_EQ(accum, (std::vector<float>{1.5f, 2.5f, 3.5f, 4.5f}));
  EXPECT_EQ(var, (std::vector<float>{0.25f, 0.75f, 1.25f, 1.75f}));
}

TEST_F(Apply, NesterovLooksAhead) {
  call({4}).set("use_nesterov", true).run();
  EXPECT_EQ(var[0], 1 - 0.5f * 1 - 0.5f * 0.5f * 1.5f);
}

TEST_F(Apply, GradientsOfOneRowAreAppliedOneAfterTheOther) {
  Call sparse = call({2, 2});
  sparse.set("indices", make_tensor(rows.data(), DType::kInt64, {2})).run();
  EXPECT_EQ(accum, (std::vector<float>{1, 1, 0.5f * 1.5f + 3, 0.5f * 2.5f + 4}));
  EXPECT_EQ(var[0], 1);
  EXPECT_EQ(var[2], 3 - 0.5f * (1.5f + 3.75f));
}

TEST_F(Apply, RefusesAnIndexBeforeAnythingIsWritten) {
  rows[1] = 2;
  Call sparse = call({2, 2});
  sparse.set("indices", make_tensor(rows.data(), DType::kInt64, {2})).prepare();
  EXPECT_THROW(sparse.compute(), Error);
  EXPECT_EQ(var[2], 3);
}

TEST_F(Apply, ManyRowsGiveTheSameAsOneByOne) {
  constexpr int64_t kRows = 50, kSteps = 4000, kWidth = 16;
  std::vector<float> a(kRows * kWidth, 1), m(kRows * kWidth), g(kSteps * kWidth), expected_a = a, expected_m = m;
  std::vector<int64_t> index(kSteps);
  for (int64_t i = 0; i < kSteps; ++i) index[static_cast<size_t>(i)] = i * i % 37;
  for (size_t i = 0; i < g.size(); ++i) g[i] = static_cast<float>(i % 7) / 8 - 0.375f;
  for (int64_t i = 0; i < kSteps; ++i)
    for (int64_t k = 0; k < kWidth; ++k) {
      const auto at = static_cast<size_t>(index[static_cast<size_t>(i)] * kWidth + k);
      expected_m[at] = expected_m[at] * 0.5f + g[static_cast<size_t>(i * kWidth + k)];
      expected_a[at] -= expected_m[at] * 0.5f;
    }
  Call sparse("apply_momentum");
  sparse.set("var", tensor(a, {kRows, kWidth})).set("accum", tensor(m, {kRows, kWidth}));
  sparse.set("grad", tensor(g, {kSteps, kWidth})).set("lr", tensor(lr, {})).set("momentum", tensor(momentum, {}));
  sparse.set("indices", make_tensor(index.data(), DType::kInt64, {kSteps})).run();
  EXPECT_EQ(m, expected_m);
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], expected_a[i], 1e-4f);
}

TEST_F(Apply, NamesWhatIsWrong) {
  EXPECT_NE(call({4}).set("lr", tensor(var, {4})).refusal().find("lr is float32[4]: it is one number"),
            std::string::npos);
  EXPECT_NE(call({4}).set("grad", tensor(grad, {2, 2})).refusal(), "");
}

}  // namespace
}  // namespace npu::ops
