// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/half.h"
#include "ops/call_fixture.h"
#include "ops/exact.h"

namespace npu::ops {
namespace {

constexpr int64_t kHeads = 3, kDepth = 32, kWidth = 16, kBlocks = 4, kBlock = 64, kKeys = kBlocks * kBlock;
constexpr double kScale = 0.2;

double as_half(double value) { return static_cast<double>(static_cast<float>(Half(static_cast<float>(value)))); }

/// One query that chooses every block: a softmax over all keys.
struct Query {
  Array query = Array(DType::kHalf, {1, kHeads, kDepth}).random(1);
  Array key = Array(DType::kHalf, {kKeys, kHeads, kDepth}).random(2);
  Array value = Array(DType::kHalf, {kKeys, kHeads, kWidth}).random(3), out = Array(DType::kHalf, {1, kHeads, kWidth});
  std::vector<int32_t> chosen;

  Query() {
    for (int64_t head = 0; head < kHeads; ++head)
      for (int32_t block = 0; block < kBlocks; ++block) chosen.push_back(block);
    Call("selected_attention")
        .set("query", query.tensor())
        .set("key", key.tensor())
        .set("value", value.tensor())
        .set("indices", make_tensor(chosen.data(), DType::kInt32, {1, kHeads, kBlocks}))
        .set("query_ends", std::vector<int64_t>{1})
        .set("key_ends", std::vector<int64_t>{kKeys})
        .set("scale", kScale)
        .set("head_num", kHeads)
        .set("block", kBlock)
        .set("count", kBlocks)
        .set("layout", std::string("TND"))
        .set("kv_layout", std::string("TND"))
        .set("rounded", true)
        .set("out", out.tensor())
        .run();
  }

  /// The mean distance from the sum of values, whose weights are rounded to float16 or not.
  double distance(bool rounded) const {
    const auto q = query.values(), k = key.values(), v = value.values(), got = out.values();
    double sum = 0;
    for (int64_t head = 0; head < kHeads; ++head) {
      std::vector<double> weights(kKeys);
      double total = 0;
      for (int64_t i = 0; i < kKeys; ++i) {
        double score = 0;
        for (int64_t d = 0; d < kDepth; ++d)
          score += q[static_cast<size_t>(head * kDepth + d)] * k[static_cast<size_t>((i * kHeads + head) * kDepth + d)];
        weights[static_cast<size_t>(i)] = std::exp(score * kScale);
        total += weights[static_cast<size_t>(i)];
      }
      for (double& weight : weights) weight = rounded ? as_half(weight / total) : weight / total;
      for (int64_t d = 0; d < kWidth; ++d) {
        double wanted = 0;
        for (int64_t i = 0; i < kKeys; ++i)
          wanted += weights[static_cast<size_t>(i)] * v[static_cast<size_t>((i * kHeads + head) * kWidth + d)];
        sum += std::fabs(as_half(wanted) - got[static_cast<size_t>(head * kWidth + d)]);
      }
    }
    return sum / static_cast<double>(kHeads * kWidth);
  }
};

// What is left of the nearer one is the order of sums.
TEST(SelectedAttention, WeightsAreRoundedAsOnTheDevice) {
  const Query made;
  EXPECT_LT(made.distance(true), 0.3 * made.distance(false));
}

TEST(SelectedAttention, WeightsStayFloat32WhereThatIsAskedFor) {
  detail::exact_setting.override(true);
  const Query made;
  detail::exact_setting.override(false);
  EXPECT_LT(made.distance(false), 0.3 * made.distance(true));
}

}  // namespace
}  // namespace npu::ops
