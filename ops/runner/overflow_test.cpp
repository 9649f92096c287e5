// SPDX-License-Identifier: Apache-2.0
#include "ops/runner/overflow.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"
#include "ops/call_fixture.h"
#include "ops/vector/conversion/extreme.h"

namespace npu::ops {
namespace {

constexpr int kDevice = 2;
constexpr double kInf = std::numeric_limits<double>::infinity();

void name_it(const void* name, device::TaskName& task) { task.node = static_cast<const char*>(name); }

class Saturation : public ::testing::Test {
 protected:
  void SetUp() override { device::clear_overflow(kDevice); }
  static bool raised() { return device::overflow_word(kDevice) != 0; }
};

void set(const Array& array, size_t element, double value) {
  const Tensor& t = array.tensor();
  const int64_t offset = static_cast<int64_t>(element) * t.strides[0];
  converter(DType::kDouble, t.dtype)(&value, 1, t.bytes() + offset * static_cast<int64_t>(size_of(t.dtype)), 1, 1);
}

Array array_of(DType dtype, const std::vector<double>& values) {
  Array out(dtype, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) set(out, i, values[i]);
  return out;
}

TEST_F(Saturation, OutsideAScopeNothingChanges) {
  const Array x = array_of(DType::kHalf, {60000, -60000}), out(DType::kHalf, {2});
  Call("add").set("self", Operand{x, {}}).set("other", Operand{x, {}}).set("out", out.tensor()).run();
  EXPECT_EQ(out.values(), (std::vector<double>{kInf, -kInf}));
  EXPECT_FALSE(raised());
}

TEST_F(Saturation, ResultsComeIntoTheRangeOfTheirType) {
  const struct {
    DType dtype;
    double large, largest;
  } kinds[] = {{DType::kHalf, 60000, 65504},
               {DType::kBFloat16, 3e38, 3.3895313892515355e38},
               {DType::kFloat, 3e38, std::numeric_limits<float>::max()}};
  for (const auto& kind : kinds) {
    device::clear_overflow(kDevice);
    const OverflowScope scope(kDevice, name_it, "sum");
    const Array x = array_of(kind.dtype, {kind.large, -kind.large, kInf, 1}),
                y = array_of(kind.dtype, {kind.large, -kind.large, -kInf, 2}), out(kind.dtype, {4});
    Call("add").set("self", Operand{x, {}}).set("other", Operand{y, {}}).set("out", out.tensor()).run();
    EXPECT_EQ(out.values(), (std::vector<double>{kind.largest, -kind.largest, 0, 3})) << name_of(kind.dtype);
    EXPECT_TRUE(raised());
    const device::Overflow told = device::overflows(kDevice).back();
    EXPECT_EQ(told.node, "sum");
    EXPECT_EQ(told.output, "out");
    EXPECT_EQ(told.dtype, kind.dtype);
    EXPECT_EQ(told.shape, Dims({4}));
    EXPECT_EQ((std::vector<int64_t>{told.infinities, told.nans, told.saturated}), (std::vector<int64_t>{2, 1, 2}));
    EXPECT_EQ(told.least, 3);
    EXPECT_EQ(told.most, 3);
  }
}

TEST_F(Saturation, OnlyTheFirstIsTold) {
  const OverflowScope scope(kDevice, name_it, "first");
  const Array x = array_of(DType::kHalf, {60000}), out(DType::kHalf, {1});
  const size_t before = device::overflows(kDevice).size();
  const auto add = [&] {
    Call("add").set("self", Operand{x, {}}).set("other", Operand{x, {}}).set("out", out.tensor()).run();
  };
  add();
  add();
  EXPECT_EQ(device::overflows(kDevice).size(), before + 1);
  device::clear_overflow(kDevice);
  add();
  EXPECT_EQ(device::overflows(kDevice).size(), before + 2);
}

TEST_F(Saturation, DoublesAndIntegersAreAsTheyAre) {
  const OverflowScope scope(kDevice, name_it, "double");
  const Array x = array_of(DType::kDouble, {1.7e308}), out(DType::kDouble, {1});
  Call("add").set("self", Operand{x, {}}).set("other", Operand{x, {}}).set("out", out.tensor()).run();
  EXPECT_EQ(out.values(), std::vector<double>{kInf});
  EXPECT_FALSE(raised());
}

TEST_F(Saturation, WhatMovesKeepsInfinities) {
  const OverflowScope scope(kDevice, name_it, "move");
  const Array x = array_of(DType::kHalf, {kInf, -1}), out(DType::kHalf, {2}), wide(DType::kFloat, {2});
  for (const char* op : {"copy", "abs", "relu"}) {
    Call(op).set("self", Operand{x, {}}).set("out", out.tensor()).run();
    EXPECT_EQ(out.values()[0], kInf) << op;
  }
  Call("copy").set("self", Operand{x, {}}).set("out", wide.tensor()).run();
  EXPECT_EQ(wide.values()[0], kInf);
  EXPECT_FALSE(raised());
}

TEST_F(Saturation, ACopyThatNarrowsComputes) {
  const OverflowScope scope(kDevice, name_it, "cast");
  const Array x = array_of(DType::kFloat, {70000, 1}), n = array_of(DType::kInt32, {70000}), out(DType::kHalf, {2});
  Call("copy").set("self", Operand{x, {}}).set("out", out.tensor()).run();
  EXPECT_EQ(out.values(), (std::vector<double>{65504, 1}));
  EXPECT_TRUE(raised());
  device::clear_overflow(kDevice);
  Call("copy").set("self", Operand{n, {}}).set("out", out.tensor()).run();
  EXPECT_EQ(out.values(), (std::vector<double>{65504, 65504}));
  EXPECT_TRUE(raised());
}

TEST_F(Saturation, AnyStridesAndSizes) {
  const OverflowScope scope(kDevice, name_it, "strided");
  for (const int64_t count : {int64_t{0}, int64_t{1}, int64_t{33}, int64_t{200'000}}) {
    for (const int64_t gap : {0, 2}) {
      device::clear_overflow(kDevice);
      const Array x = Array(DType::kHalf, {count}, {}, gap).filled(1);
      if (count > 0) set(x, static_cast<size_t>(count - 1), kInf);
      EXPECT_EQ(has_overflow(x), count > 0);
      saturate(x);
      EXPECT_FALSE(has_overflow(x));
      std::vector<double> expected(static_cast<size_t>(count), 1);
      if (count > 0) expected.back() = 65504;
      EXPECT_EQ(x.values(), expected);
    }
  }
}

TEST_F(Saturation, TheInnermostScopeNames) {
  const Array x = array_of(DType::kHalf, {60000}), out(DType::kHalf, {1});
  const OverflowScope outer(kDevice, name_it, "outer");
  {
    const OverflowScope inner(kDevice, name_it, "inner");
    Call("add").set("self", Operand{x, {}}).set("other", Operand{x, {}}).set("out", out.tensor()).run();
  }
  EXPECT_EQ(device::overflows(kDevice).back().node, "inner");
  EXPECT_EQ(OverflowScope::current(), &outer);
}

TEST(RangeKernel, OnlyTypesThatSaturateHaveOne) {
  EXPECT_NE(range_kernel(DType::kHalf), nullptr);
  EXPECT_EQ(range_kernel(DType::kDouble), nullptr);
  EXPECT_EQ(range_kernel(DType::kInt32), nullptr);
  EXPECT_EQ(range_kernel(DType::kComplex64), nullptr);
}

TEST(FloatStatus, ReadsAndClearsTheWordOfItsDevice) {
  const Array words(DType::kInt32, {8}), floats(DType::kFloat, {8});
  device::raise_overflow(kDevice);
  Call("get_float_status")
      .set("self", floats.tensor())
      .set("out", words.tensor())
      .set("device", int64_t{kDevice})
      .run();
  EXPECT_EQ(words.values(), (std::vector<double>{1, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(floats.values(), words.values());
  Call("clear_float_status").set("out", words.tensor()).set("device", int64_t{kDevice}).run();
  EXPECT_EQ(words.values(), std::vector<double>(8, 0));
  EXPECT_EQ(device::overflow_word(kDevice), 0u);
  const Array halves(DType::kHalf, {8}), seven(DType::kFloat, {7});
  EXPECT_NE(Call("get_float_status").set("out", halves.tensor()).refusal().find("float32 or int32"), std::string::npos);
  EXPECT_NE(Call("alloc_float_status").set("out", seven.tensor()).refusal().find("8 numbers"), std::string::npos);
}

}  // namespace
}  // namespace npu::ops
