// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/half.h"
#include "ops/call_fixture.h"
#include "ops/exact.h"

namespace npu::ops {
namespace {

constexpr int64_t kRows = 3, kInner = 96, kColumns = 600;  // more columns than are made float at a time
constexpr int64_t kManyRows = 20, kLong = 1536;            // few rows of long columns are computed in smaller pieces

/// Weights as whole numbers, and the same in the client's bytes.
struct Weights {
  int64_t inner;
  std::vector<int> values = std::vector<int>(static_cast<size_t>(inner * kColumns));  // [k, n]
  std::vector<int8_t> bytes;
  Tensor tensor;

  Weights(DType dtype, bool turned, int64_t k_size = kInner) : inner(k_size) {
    std::mt19937 engine(5);
    std::uniform_int_distribution<int> any(dtype == DType::kInt8 ? -128 : -8, dtype == DType::kInt8 ? 127 : 7);
    for (int& v : values) v = any(engine);
    bytes.assign(values.size(), 0);
    for (int64_t k = 0; k < inner; ++k) {
      for (int64_t n = 0; n < kColumns; ++n) {
        const auto at = static_cast<size_t>(turned ? n * inner + k : k * kColumns + n);
        const int v = values[static_cast<size_t>(k * kColumns + n)];
        if (dtype == DType::kInt8)
          bytes[at] = static_cast<int8_t>(v);
        else
          bytes[at / 2] = static_cast<int8_t>(bytes[at / 2] | (v & 15) << (at % 2 * 4));
      }
    }
    const Dims shape{inner, kColumns};
    tensor = make_tensor(bytes.data(), dtype, shape);
    if (turned) tensor = tensor.view(shape, {1, inner});
    if (dtype != DType::kInt32) return;
    tensor = make_tensor(bytes.data(), dtype, {inner, kColumns / 8});
  }
};

struct Call3 {
  int64_t rows;
  Array x, out = Array(DType::kHalf, {rows, kColumns}).filled(9);
  Array scale, offset, bias = Array(DType::kHalf, {kColumns}).random(4);
  int64_t group = 0;
  Call call{"weight_quant_matmul"};

  Call3(const Weights& weights, const Dims& grid, int64_t group_size, int64_t m = kRows)
      : rows(m),
        x(Array(DType::kHalf, {m, weights.inner}).random(1)),
        scale(Array(DType::kHalf, grid).random(2)),
        offset(Array(DType::kHalf, grid).random(3)),
        group(group_size) {
    call.set("self", x.tensor()).set("weight", weights.tensor).set("out", out.tensor());
    call.set("scale", scale.tensor()).set("offset", offset.tensor()).set("bias", bias.tensor());
    call.set("group_size", group);
  }
  // As the device has it: a weight is of float16 after each of its two steps.
  static double rounded(double w) {
    return is_exact() ? w : static_cast<double>(static_cast<float>(Half(static_cast<float>(w))));
  }
  void expect(const Weights& weights) {
    call.run();
    const auto x64 = x.values(), s = scale.values(), o = offset.values(), b = bias.values(), got = out.values();
    const auto at = [&](int64_t k, int64_t n) {
      if (s.size() == 1) return size_t{0};
      return static_cast<size_t>((group == 0 ? 0 : k / group * kColumns) + n);
    };
    double largest = 0, worst = 0;
    for (int64_t i = 0; i < rows * kColumns; ++i) {
      const int64_t m = i / kColumns, n = i % kColumns;
      double sum = b[static_cast<size_t>(n)];
      for (int64_t k = 0; k < weights.inner; ++k) {
        const double w = weights.values[static_cast<size_t>(k * kColumns + n)] + o[at(k, n)];
        sum += x64[static_cast<size_t>(m * weights.inner + k)] * rounded(rounded(w) * s[at(k, n)]);
      }
      largest = std::max(largest, std::fabs(sum));
      worst = std::max(worst, std::fabs(sum - got[static_cast<size_t>(i)]));
    }
    EXPECT_GT(largest, 1);
    EXPECT_LE(worst, largest * 0x1p-11);  // one rounding to float16
  }
};

TEST(WeightQuantMatmul, EqualsFloat64) {
  for (const DType dtype : {DType::kInt8, DType::kInt4}) {
    for (const bool turned : {false, true}) {
      const Weights weights(dtype, turned);
      SCOPED_TRACE(fmt::format("{} {}", dtype, turned));
      Call3(weights, {1}, 0).expect(weights);
      Call3(weights, {kColumns}, 0).expect(weights);
      Call3(weights, {1, kColumns}, 0).expect(weights);
      Call3(weights, {kInner / 32, kColumns}, 32).expect(weights);
    }
  }
}

TEST(WeightQuantMatmul, RowsDecideHowManyColumnsAreMadeAtATime) {
  const Weights weights(DType::kInt4, true, kLong);
  for (const int64_t rows : {kRows, kManyRows}) Call3(weights, {kLong / 64, kColumns}, 64, rows).expect(weights);
}

TEST(WeightQuantMatmul, KeepsFloat32InsideWhereThatIsAskedFor) {
  detail::exact_setting.override(true);
  const Weights weights(DType::kInt8, false);
  Call3(weights, {kColumns}, 0).expect(weights);
  detail::exact_setting.override(false);
}

TEST(WeightQuantMatmul, EightFourBitNumbersInAnInt32) {
  const Weights weights(DType::kInt32, false);
  Call3(weights, {kInner / 32, kColumns}, 32).expect(weights);
}

TEST(WeightQuantMatmul, LastGroupMayBeShort) {
  const Weights weights(DType::kInt8, true);
  Call3(weights, {2, kColumns}, 64).expect(weights);
}

TEST(WeightQuantMatmul, OneCallServesManyRuns) {
  const Weights weights(DType::kInt8, false);
  Call3 made(weights, {kColumns}, 0);
  made.expect(weights);
  made.expect(weights);
}

TEST(WeightQuantMatmul, RefusesWhatItDoesNotCompute) {
  const Weights weights(DType::kInt8, false);
  const auto refusal = [&](auto&& change) {
    Call3 made(weights, {kColumns}, 0);
    change(made.call);
    return made.call.refusal();
  };
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  const Array single(DType::kFloat, {kRows, kInner}), narrow(DType::kHalf, {kRows, 5}), one(DType::kHalf, {1});
  const Array batch(DType::kInt8, {2, kInner, kColumns});
  EXPECT_TRUE(has(refusal([&](Call& c) { c.set("self", single.tensor()); }), "x is float32"));
  EXPECT_TRUE(has(refusal([&](Call& c) { c.set("self", narrow.tensor()); }), "inner sizes differ (5 and 96)"));
  EXPECT_TRUE(has(refusal([&](Call& c) { c.set("group_size", int64_t{48}); }), "antiquantGroupSize is 48"));
  EXPECT_TRUE(has(refusal([&](Call& c) { c.set("bias", one.tensor()); }), "bias is"));
  EXPECT_TRUE(has(refusal([&](Call& c) { c.set("weight", batch.tensor()); }), "batches of weights"));
  EXPECT_TRUE(has(refusal([&](Call& c) { c.set("weight", narrow.tensor()); }), "weight is float16"));
}

}  // namespace
}  // namespace npu::ops
