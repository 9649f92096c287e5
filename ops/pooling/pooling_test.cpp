// SPDX-License-Identifier: Apache-2.0
// What the conformance cases cannot see: layouts on both sides, foreign masks, texts.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ops/call_fixture.h"

namespace npu::ops {
namespace {

const std::vector<int64_t> kThree{3, 3}, kTwo{2, 2}, kOne{1, 1};

Call pool(const char* name, const Tensor& self) {
  Call call(name);
  call.set("self", self).set("kernel_size", kThree).set("stride", kTwo).set("padding", kOne);
  return call;
}

TEST(Pooling, ChannelsLastGivesTheSame) {
  const std::vector<size_t> last{0, 2, 3, 1};
  const Array x = Array(DType::kFloat, {2, 40, 9, 23}).random(1),
              y = Array(DType::kFloat, {2, 40, 9, 23}, last).random(1);
  const Array max_x(DType::kFloat, {2, 40, 5, 12}), max_y(DType::kFloat, {2, 40, 5, 12}, last);
  const Array at_x(DType::kInt64, {2, 40, 5, 12}), at_y(DType::kInt64, {2, 40, 5, 12}, last);
  pool("max_pool_indices", x).set("out", max_x.tensor()).set("indices", at_x.tensor()).run();
  pool("max_pool_indices", y).set("out", max_y.tensor()).set("indices", at_y.tensor()).run();
  EXPECT_EQ(max_x.values(), max_y.values());
  EXPECT_EQ(at_x.values(), at_y.values());
  pool("avg_pool", x).set("out", max_x.tensor()).run();
  pool("avg_pool", y).set("out", max_y.tensor()).run();
  const auto a = max_x.values(), b = max_y.values();
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-6) << i;
}

TEST(Pooling, MaskLeadsTheGradientBack) {
  const Array x = Array(DType::kFloat, {1, 3, 8, 8}).random(2), g = Array(DType::kFloat, {1, 3, 4, 4}).random(3);
  const Array out(DType::kFloat, {1, 3, 4, 4}), mask(DType::kInt8, {1, 3, 9, 64}), at(DType::kInt32, {1, 3, 4, 4});
  const Array by_mask(DType::kFloat, {1, 3, 8, 8}), by_index(DType::kFloat, {1, 3, 8, 8});
  pool("max_pool_mask", x).set("out", out.tensor()).set("indices", mask.tensor()).run();
  pool("max_pool_indices", x).set("out", out.tensor()).set("indices", at.tensor()).run();
  const auto grad = [&](const char* name, const Array& places, const Array& into) {
    pool(name, x).set("grad_output", g.tensor()).set("indices", places.tensor()).set("grad_input", into.tensor()).run();
  };
  grad("max_pool_mask_backward", mask, by_mask);
  grad("max_pool_indices_backward", at, by_index);
  EXPECT_EQ(by_mask.values(), by_index.values());
}

TEST(Pooling, WithoutPlacesGivesTheSame) {
  for (const std::vector<size_t>& order : {std::vector<size_t>{}, std::vector<size_t>{0, 2, 3, 1}}) {
    for (const DType dtype : {DType::kFloat, DType::kDouble, DType::kHalf}) {
      const Array x = Array(dtype, {2, 40, 9, 23}, order).random(1), g = Array(dtype, {2, 40, 5, 12}, order).random(2);
      const Array seen(dtype, {2, 40, 5, 12}, order), out(dtype, {2, 40, 5, 12}, order);
      const Array at(DType::kInt32, {2, 40, 5, 12}, order);
      pool("max_pool_indices", x).set("out", seen.tensor()).set("indices", at.tensor()).run();
      pool("max_pool", x).set("out", out.tensor()).run();
      EXPECT_EQ(out.values(), seen.values());
      const Array want(dtype, {2, 40, 9, 23}, order), got(dtype, {2, 40, 9, 23}, order);
      pool("max_pool_indices_backward", x)
          .set("grad_output", g.tensor())
          .set("indices", at.tensor())
          .set("grad_input", want.tensor())
          .run();
      pool("max_pool_backward", x).set("grad_output", g.tensor()).set("grad_input", got.tensor()).run();
      EXPECT_EQ(got.values(), want.values());
    }
  }
}

TEST(Pooling, NansCountBeforeNumbersWhereChannelsAreLast) {
  const std::vector<size_t> last{0, 2, 3, 1};
  const Array x = Array(DType::kFloat, {1, 16, 5, 5}, last).filled(1), out(DType::kFloat, {1, 16, 3, 3}, last);
  x.tensor().as<float>()[(2 * 5 + 2) * 16 + 7] = std::numeric_limits<float>::quiet_NaN();
  pool("max_pool", x).set("out", out.tensor()).run();
  const float* y = out.tensor().as<float>();
  for (int64_t i = 0; i < 9; ++i) {
    for (int64_t c = 0; c < 16; ++c) EXPECT_EQ(std::isnan(y[i * 16 + c]), c == 7 && i == 4) << i << " " << c;
  }
}

/// Windows that meet, that lie side by side and leave a rest or none, and that leave gaps.
TEST(Pooling, WindowsOfEveryKindInBothLayouts) {
  struct Row {
    std::vector<int64_t> kernel, stride, padding, dilation;
    int64_t in[2], out[2];
  };
  const Row table[] = {
      {{2, 2}, {2, 2}, {0, 0}, {1, 1}, {8, 8}, {4, 4}}, {{2, 2}, {2, 2}, {0, 0}, {1, 1}, {9, 7}, {4, 3}},
      {{3, 3}, {2, 2}, {1, 1}, {1, 1}, {9, 8}, {5, 4}}, {{2, 2}, {3, 3}, {0, 0}, {1, 1}, {8, 9}, {3, 3}},
      {{2, 3}, {2, 3}, {1, 0}, {1, 1}, {6, 9}, {4, 3}}, {{3, 3}, {1, 1}, {1, 1}, {2, 2}, {9, 9}, {7, 7}},
      {{8, 8}, {1, 1}, {0, 0}, {1, 1}, {8, 8}, {1, 1}},
  };
  for (const Row& r : table) {
    for (const int64_t channels : {1, 8, 9, 33, 64, 71}) {
      SCOPED_TRACE(fmt::format("{} by {}, {} channels", r.kernel[1], r.stride[1], channels));
      std::vector<std::vector<double>> maxima, gradients;
      for (const std::vector<size_t>& order : {std::vector<size_t>{}, std::vector<size_t>{0, 2, 3, 1}}) {
        const Dims in{2, channels, r.in[0], r.in[1]}, shape{2, channels, r.out[0], r.out[1]};
        const Array x = Array(DType::kFloat, in, order).random(1), g = Array(DType::kFloat, shape, order).random(2);
        const Array out(DType::kFloat, shape, order), grad(DType::kFloat, in, order);
        const auto call = [&](const char* name) {
          Call made(name);
          made.set("self", x.tensor()).set("kernel_size", r.kernel).set("stride", r.stride);
          return std::move(made.set("padding", r.padding).set("dilation", r.dilation));
        };
        call("max_pool").set("out", out.tensor()).run();
        call("max_pool_backward").set("grad_output", g.tensor()).set("grad_input", grad.tensor()).run();
        maxima.push_back(out.values()), gradients.push_back(grad.values());
      }
      EXPECT_EQ(maxima[0], maxima[1]);
      EXPECT_EQ(gradients[0], gradients[1]);
    }
  }
}

TEST(Pooling, PlacesOutsideThePlaneAreHarmless) {
  const Array x = Array(DType::kFloat, {1, 3, 8, 8}).random(2), g = Array(DType::kFloat, {1, 3, 4, 4}).random(3);
  const Array mask = Array(DType::kInt8, {1, 3, 9, 64}).filled(-2), at = Array(DType::kInt64, {1, 3, 4, 4}).filled(64);
  const Array grad(DType::kFloat, {1, 3, 8, 8});
  for (const char* name : {"max_pool_mask_backward", "max_pool_indices_backward"}) {
    const Tensor& places = name[9] == 'm' ? mask.tensor() : at.tensor();
    pool(name, x).set("grad_output", g.tensor()).set("indices", places).set("grad_input", grad.tensor()).run();
    for (const double v : grad.values()) EXPECT_EQ(v, 0) << name;
  }
}

TEST(Pooling, RefusalsSayWhatToDo) {
  const Array x(DType::kFloat, {1, 3, 8, 8}), out(DType::kFloat, {1, 3, 4, 5}), mask(DType::kInt8, {1, 3, 9, 1});
  EXPECT_EQ(pool("avg_pool", x).set("out", out.tensor()).refusal(), "out is float32[1x3x4x5], expected shape 1x3x4x4");
  EXPECT_NE(pool("avg_pool", x).set("padding", kTwo).set("out", out.tensor()).refusal().find("half the kernel"),
            std::string::npos);
  const Array right(DType::kFloat, {1, 3, 4, 4});
  EXPECT_NE(
      pool("max_pool_mask", x).set("out", right.tensor()).set("indices", mask.tensor()).refusal().find("48 bytes"),
      std::string::npos);
}

}  // namespace
}  // namespace npu::ops
