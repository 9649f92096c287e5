// SPDX-License-Identifier: Apache-2.0
// Known answers are TensorFlow's, from its CPU.
#include "ops/random/counter.h"

#include <gtest/gtest.h>

#include <vector>

#include "ops/runner/call.h"

namespace npu::ops {
namespace {

constexpr uint64_t kOnes = ~uint64_t{0};

struct Start {
  uint64_t key[1] = {7};
  uint64_t counter[2] = {kOnes, 2};  // carries after the first block
};

template <class T>
std::vector<T> drawn(std::string_view op, int64_t count) {
  Start start;
  std::vector<T> out(static_cast<size_t>(count));
  Call(op)
      .set("key", make_tensor(start.key, DType::kUInt64, {1}))
      .set("counter", make_tensor(start.counter, DType::kUInt64, {2}))
      .set("out", make_tensor(out.data(), dtype_of<T>, {count}))
      .run();
  return out;
}

TEST(Counter, Uniform) {
  EXPECT_EQ(drawn<float>("counter_uniform", 5),
            (std::vector<float>{0x1.4b2ef4p-1, 0x1.f4497p-3, 0x1.786378p-2, 0x1.46d8ap-1, 0x1.9ab6c8p-2}));
  EXPECT_EQ(drawn<double>("counter_uniform", 3),
            (std::vector<double>{0x1.65debe8fa24b8p-3, 0x1.e18df9aa36c50p-1, 0x1.ab6c8fd81e210p-3}));
}

TEST(Counter, Normal) {
  const auto got = drawn<float>("counter_normal", 5);
  const std::vector<float> wanted{0x1.dd9c76p-1, 0x1.12babp-5, -0x1.14b27cp+0, -0x1.d36d5cp-1, 0x1.e3b038p-1};
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_FLOAT_EQ(got[i], wanted[i]);
}

TEST(Counter, TruncatedNormalDrawsAgainAndKeepsItsStretches) {
  const auto got = drawn<double>("counter_truncated_normal", 5);
  const std::vector<double> wanted{-0x1.5d0e2b84e5a1ap-1, 0x1.bd2f05041a93cp+0, 0x1.b9296e1275fd3p+0,
                                   -0x1.472d023872d31p+0, -0x1.36080e0537355p+0};
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_DOUBLE_EQ(got[i], wanted[i]);
  for (const float value : drawn<float>("counter_truncated_normal", 10000)) ASSERT_LT(std::abs(value), 2);
}

TEST(Counter, Integers) {
  EXPECT_EQ(drawn<uint32_t>("counter_integers", 3), (std::vector<uint32_t>{2882718653, 2099201175, 4038003823}));
  EXPECT_EQ(drawn<int64_t>("counter_integers", 3),
            (std::vector<int64_t>{9016000397232491453, -3651937535867810705, 2283391267787462361}));
  Start start;
  int32_t low = -3, high = 4;
  std::vector<int32_t> out(5);
  Call("counter_integers")
      .set("key", make_tensor(start.key, DType::kUInt64, {1}))
      .set("counter", make_tensor(start.counter, DType::kUInt64, {2}))
      .set("low", make_tensor(&low, DType::kInt32, {}))
      .set("high", make_tensor(&high, DType::kInt32, {}))
      .set("out", make_tensor(out.data(), DType::kInt32, {5}))
      .run();
  EXPECT_EQ(out, (std::vector<int32_t>{0, -2, -3, -2, 3}));
}

TEST(Counter, Permutation) {
  EXPECT_EQ(drawn<int64_t>("counter_permutation", 8), (std::vector<int64_t>{5, 2, 3, 6, 0, 4, 1, 7}));
}

TEST(Counter, SeedsAreScrambled) {
  int32_t seed[2] = {3, -4};
  uint64_t key = 0, counter[2] = {1, 1};
  Call("counter_seed")
      .set("seed", make_tensor(seed, DType::kInt32, {2}))
      .set("key", make_tensor(&key, DType::kUInt64, {1}))
      .set("counter", make_tensor(counter, DType::kUInt64, {2}))
      .run();
  EXPECT_EQ(key, 8496633186236937083u);
  EXPECT_EQ(counter[0], 0u);
  EXPECT_EQ(counter[1], 10170721048406114738u);
}

TEST(Counter, RefusesBadArguments) {
  uint64_t words[2] = {};
  float out[2];
  Call call("counter_uniform");
  call.set("key", make_tensor(words, DType::kUInt64, {1})).set("counter", make_tensor(words, DType::kUInt64, {1}));
  call.set("out", make_tensor(out, DType::kFloat, {2}));
  EXPECT_EQ(call.refusal(), "counter is uint64[1]; it is two uint64");
}

}  // namespace
}  // namespace npu::ops
