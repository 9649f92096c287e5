// SPDX-License-Identifier: Apache-2.0
// What the element-wise families promise beyond their formulas: defined results where C++ has none, shortcuts, rare
// arguments, optional inputs, refusals.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "ops/runner/call.h"

namespace npu::ops {
namespace {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;

template <class T>
Tensor tensor(std::vector<T>& data) {
  return make_tensor(data.data(), dtype_of<T>, {static_cast<int64_t>(data.size())});
}
template <class T>
Operand operand(std::vector<T>& data) {
  return {tensor(data), {}};
}
Operand number(Scalar value) { return {{}, value}; }

template <class T>
std::vector<T> binary(std::string_view name, std::vector<T> x, std::vector<T> y) {
  std::vector<T> out(x.size());
  Call(name).set("self", operand(x)).set("other", operand(y)).set("out", tensor(out)).run();
  return out;
}

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

TEST(Division, OfIntegersNeverTraps) {
  EXPECT_EQ(binary<int64_t>("trunc_divide", {7, -7, kLeast, 5}, {2, 2, -1, 0}), (Ints{3, -3, kLeast, -1}));
  EXPECT_EQ(binary<int64_t>("floor_divide", {7, -7, kLeast, -7}, {2, 2, -1, -2}), (Ints{3, -4, kLeast, 3}));
  EXPECT_EQ(binary<int64_t>("remainder", {7, -7, kLeast, -7, 5}, {2, 2, -1, -2, 0}), (Ints{1, 1, 0, -1, 0}));
  EXPECT_EQ(binary<int64_t>("fmod", {7, -7, kLeast, 5}, {2, 2, -1, 0}), (Ints{1, -1, 0, 0}));
  EXPECT_EQ(binary<int64_t>("gcd", {12, -12, 0, kLeast}, {18, 18, 0, 0}), (Ints{6, 6, 0, kLeast}));
}

TEST(Division, OfFloatsIsExactForLargeQuotients) {
  const Floats x{1e30f, -1e30f, 7.5f, std::numeric_limits<float>::infinity()}, y{3, 3, -2, 2};
  const Floats rest = binary<float>("fmod", x, y);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(rest[i], std::fmod(x[i], y[i]));
  EXPECT_TRUE(std::isnan(rest[3]));
  EXPECT_EQ(binary<float>("remainder", x, y)[2], -0.5f);
  EXPECT_EQ(binary<float>("floor_divide", x, y)[2], -4.0f);
}

TEST(Bits, ShiftsBeyondTheWidthAreDefined) {
  EXPECT_EQ(binary<int64_t>("left_shift", {1, -8, 5}, {64, 2, -1}), (Ints{0, -32, 0}));
  EXPECT_EQ(binary<int64_t>("right_shift", {1, -8, 5}, {64, 99, -1}), (Ints{0, -1, 0}));
  EXPECT_EQ(binary<int32_t>("left_shift", {1, 1}, {33, 31}),
            (std::vector<int32_t>{0, std::numeric_limits<int>::min()}));
}

TEST(Bits, OfBoolsAreLogical) {
  bool x[] = {true, false}, out[] = {true, true};
  const Tensor in = make_tensor(x, DType::kBool, {2}), result = make_tensor(out, DType::kBool, {2});
  Call("bitwise_not").set("self", Operand{in, {}}).set("out", result).run();
  EXPECT_FALSE(out[0]);
  EXPECT_TRUE(out[1]);
}

TEST(Pow, OfIntegersWrapsAndTakesNegativeExponents) {
  Ints x{2, -1, 1, 0, 5, 3}, y{-1, -3, -2, -1, 70, 4}, out(6);
  Call("pow").set("self", operand(x)).set("exponent", operand(y)).set("out", tensor(out)).run();
  EXPECT_EQ(out, (Ints{0, -1, 1, 0, 8111363527490294793, 81}));
}

TEST(Pow, OfOneHalfIsTheRoot) {
  Floats x{-0.0f, 2.25f, -std::numeric_limits<float>::infinity()}, out(3);
  Call("pow").set("self", operand(x)).set("exponent", number(0.5)).set("out", tensor(out)).run();
  EXPECT_TRUE(std::signbit(out[0]));
  EXPECT_EQ(out[1], 1.5f);
  EXPECT_TRUE(std::isnan(out[2]));
}

TEST(Trigonometry, LargeArgumentsAmongSmallOnes) {
  Floats x(1000), out(1000);
  std::iota(x.begin(), x.end(), -500.0f);
  x[700] = 1e22f;
  Call("sin").set("self", operand(x)).set("out", tensor(out)).run();
  EXPECT_EQ(out[700], std::sin(1e22f));
  for (const size_t i : {0, 600, 701, 999}) EXPECT_NEAR(out[i], std::sin(x[i]), 1e-7);
}

TEST(Clamp, EitherEndMayBeLeftOut) {
  Floats x{-2, 0, 2, std::nanf("")}, out(4);
  Call("clamp").set("self", operand(x)).set("max", number(1)).set("out", tensor(out)).run();
  EXPECT_EQ(out[0], -2);
  EXPECT_EQ(out[2], 1);
  EXPECT_TRUE(std::isnan(out[3]));
  Ints whole{kLeast, 3}, least(2);
  Call("clamp").set("self", operand(whole)).set("max", number(2)).set("out", tensor(least)).run();
  EXPECT_EQ(least, (Ints{kLeast, 2}));
}

TEST(Promotion, NumbersThatAreAttributesDoNotCount) {
  Ints x{int64_t{1} << 60, 5}, out(2);
  Call("nan_to_num").set("self", operand(x)).set("nan", number(0.5)).set("out", tensor(out)).run();
  EXPECT_EQ(out, x);  // computed in int64: float32 would have lost bits
}

TEST(Promotion, DivisionOfIntegersIsFloating) {
  std::vector<int32_t> x{1, 7};
  Floats out(2);
  Call("div").set("self", operand(x)).set("other", number(2)).set("out", tensor(out)).run();
  EXPECT_EQ(out, (Floats{0.5f, 3.5f}));
}

std::string refusal(Call& call) {
  try {
    call.prepare();
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

TEST(Refusals, NameTheArgumentAndTheRule) {
  Floats x{1, 2, 3}, out(3);
  Call mode("div_mode");
  mode.set("self", operand(x)).set("other", number(2)).set("mode", int64_t{3}).set("out", tensor(out));
  EXPECT_EQ(refusal(mode), "mode is 3; it must be 0 (none), 1 (trunc) or 2 (floor)");
  Call glu("glu");
  glu.set("self", tensor(x)).set("out", tensor(out));
  EXPECT_EQ(refusal(glu), "self is float32[3]: size 3 of dimension 0 is odd and cannot be halved");
  Call bits("bitwise_and");
  bits.set("self", operand(x)).set("other", operand(x)).set("out", tensor(out));
  EXPECT_EQ(refusal(bits), "bitwise_and is not defined for float32 inputs; cast them first");
}

}  // namespace
}  // namespace npu::ops
