// SPDX-License-Identifier: Apache-2.0
#include "ops/tuner/workbench.h"

#include <gtest/gtest.h>

#include "ops/call_fixture.h"

namespace npu::ops::tuning {
namespace {

std::unique_ptr<Operator> add(const Tensor& self, const Tensor& other, const Tensor& out) {
  auto op = create(*find_operator("add"));
  op->def->field("self")->of<Operand>(*op) = {self, {}};
  op->def->field("other")->of<Operand>(*op) = {other, {}};
  op->def->field("out")->of<Tensor>(*op) = out;
  op->prepare();
  return op;
}

TEST(Workbench, WhatOverlapsThereOverlapsHere) {
  std::vector<float> x{1, 2, 3, 4, 5, 6};
  const Tensor all = make_tensor(x.data(), DType::kFloat, {4});
  Tensor tail = all;
  tail.offset = 2;
  const auto original = add(all, tail, tail);
  Workbench bench(*original);
  const auto made = bench.make();
  made->prepare(), made->run();
  EXPECT_EQ(x, (std::vector<float>{1, 2, 3, 4, 5, 6}));
  const auto results = bench.results(*made);
  const auto* numbers = reinterpret_cast<const float*>(results.data());
  EXPECT_EQ(std::vector<float>(numbers, numbers + 4), (std::vector<float>{1 + 3, 2 + 4, 3 + 5, 4 + 6}));
  EXPECT_EQ(made->def->field("other")->of<Operand>(*made).tensor.bytes(),
            made->def->field("out")->of<Tensor>(*made).bytes());
}

TEST(Workbench, GoesBackToWhatItCopied) {
  std::vector<float> x{1, 2};
  const Tensor t = make_tensor(x.data(), DType::kFloat, {2});
  const auto original = add(t, t, t);
  Workbench bench(*original);
  const auto made = bench.make();
  made->prepare(), made->run();
  const auto once = bench.results(*made);
  made->run();
  EXPECT_FALSE(agree(*made, once, bench.results(*made)));
  bench.restore(), made->run();
  EXPECT_TRUE(agree(*made, once, bench.results(*made)));
}

TEST(Workbench, ResultsAgreeUpToTheOrderOfSums) {
  std::vector<float> x{1000, 1};
  const Tensor t = make_tensor(x.data(), DType::kFloat, {2});
  const auto op = add(t, t, t);
  const auto bytes = [](std::vector<float> values) {
    const auto* from = reinterpret_cast<const std::byte*>(values.data());
    return std::vector<std::byte>(from, from + values.size() * sizeof(float));
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(agree(*op, bytes({1000, 1}), bytes({1000, 1.01f})));
  EXPECT_FALSE(agree(*op, bytes({1000, 1}), bytes({1000, 1.2f})));
  EXPECT_FALSE(agree(*op, bytes({1000, 1}), bytes({1000, nan})));
  EXPECT_TRUE(agree(*op, bytes({nan, 1}), bytes({nan, 1})));
  EXPECT_FALSE(agree(*op, bytes({1000, 1}), bytes({1000})));
}

}  // namespace
}  // namespace npu::ops::tuning
