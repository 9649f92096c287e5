// SPDX-License-Identifier: Apache-2.0
// Chains against the operators one by one: layouts, roundings, outputs over inputs, and wrong programs.
#include "ops/vector/chain/chain.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "device/device_fixture.h"
#include "ops/call_fixture.h"

namespace npu::ops {
namespace {

constexpr DType kF = DType::kFloat;

/// (x + y) · x and x + y, of one type.
ChainGroup sum_and_product(DType dtype) {
  return {{dtype, dtype},
          {{"add", dtype, {{"self", 0}, {"other", 1}}}, {"mul", dtype, {{"self", 2}, {"other", 0}}}},
          {3, 2}};
}

std::vector<double> one_by_one(const Tensor& x, const Tensor& y) {
  Array sum(x.dtype, x.shape), product(x.dtype, x.shape);
  Call("add").set("self", Operand{x, {}}).set("other", Operand{y, {}}).set("out", sum.tensor()).run();
  Call("mul").set("self", Operand{sum, {}}).set("other", Operand{x, {}}).set("out", product.tensor()).run();
  std::vector<double> out = product.values(), more = sum.values();
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

std::vector<double> chained(const Tensor& x, const Tensor& y) {
  Array sum(x.dtype, x.shape), product(x.dtype, x.shape);
  Call("chain")
      .set("inputs", std::vector<Tensor>{x, y})
      .set("outputs", std::vector<Tensor>{product, sum})
      .set("program", chain_program({sum_and_product(x.dtype)}))
      .run();
  std::vector<double> out = product.values(), more = sum.values();
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

TEST(Chain, LayoutsAndTypes) {
  for (const DType dtype : {kF, DType::kHalf, DType::kBFloat16, DType::kDouble}) {
    for (const Dims& shape : {Dims{5, 700}, Dims{70, 9}, Dims{1, 1}, Dims{0, 3}, Dims{3, 40, 60}}) {
      const Array x = Array(dtype, shape).random(1);
      Dims row(shape.size(), 1), column = row;
      row.back() = shape.back(), column[0] = shape[0];
      std::vector<size_t> backwards;
      for (size_t i = shape.size(); i-- > 0;) backwards.push_back(i);
      for (const Array& y :
           {Array(dtype, shape).random(2), Array(dtype, row).random(3), Array(dtype, column).random(4),
            Array(dtype, {}).random(5), Array(dtype, shape, backwards).random(6), Array(dtype, shape, {}, 2).random(7)})
        EXPECT_EQ(chained(x, y), one_by_one(x, y)) << fmt::format("{} and {}", x.tensor(), y.tensor());
    }
  }
}

TEST(Chain, AnOutputMayBeAnInput) {
  const Array x = Array(kF, {5000}).random(1), y = Array(kF, {5000}).random(2);
  const std::vector<double> wanted = one_by_one(x, y);
  for (const bool swapped : {false, true}) {
    Array a = Array(kF, {5000}).random(1), b = Array(kF, {5000}).random(2);
    // Either the product or the sum lands on x, which the second step still reads.
    const std::vector<Tensor> outputs = swapped ? std::vector<Tensor>{b, a} : std::vector<Tensor>{a, b};
    Call("chain")
        .set("inputs", std::vector<Tensor>{a, b})
        .set("outputs", outputs)
        .set("program", chain_program({sum_and_product(kF)}))
        .run();
    std::vector<double> got = swapped ? b.values() : a.values(), more = swapped ? a.values() : b.values();
    got.insert(got.end(), more.begin(), more.end());
    EXPECT_EQ(got, wanted);
  }
}

TEST(Chain, AnInputThatLiesAcrossAnOutputIsCopiedFirst) {
  const Array x = Array(kF, {100}).random(1);
  Array memory = Array(kF, {100}).random(2), sum(kF, {100});
  const std::vector<double> wanted = one_by_one(x, Array(kF, {100}).random(2).tensor().view({100}, {0}));
  Call("chain")
      .set("inputs", std::vector<Tensor>{x, memory.tensor().view({100}, {0})})
      .set("outputs", std::vector<Tensor>{sum, memory})
      .set("program", chain_program({sum_and_product(kF)}))
      .run();
  std::vector<double> got = sum.values(), more = memory.values();
  got.insert(got.end(), more.begin(), more.end());
  EXPECT_EQ(got, wanted);
}

TEST(Chain, CastsRoundOnceAndTestsGiveBools) {
  const Array x = Array(kF, {300}).random(3);
  const ChainGroup group{{kF},
                         {{"cast", DType::kHalf, {{"self", 0}}},
                          {"sqrt", DType::kHalf, {{"self", 1}}},
                          {"cast", kF, {{"self", 2}}},
                          {"gt", DType::kBool, {{"self", 3}, {"other", 0}}},
                          {"where", kF, {{"condition", 4}, {"self", 3}, {"other", 0}}}},
                         {5, 4}};
  Array out(kF, {300}), test(DType::kBool, {300});
  Call("chain")
      .set("inputs", std::vector<Tensor>{x})
      .set("outputs", std::vector<Tensor>{out, test})
      .set("program", chain_program({group}))
      .run();
  Array half(DType::kHalf, {300}), root(DType::kHalf, {300}), wide(kF, {300}), greater(DType::kBool, {300}),
      chosen(kF, {300});
  Call("copy").set("self", Operand{x, {}}).set("out", half.tensor()).run();
  Call("sqrt").set("self", Operand{half, {}}).set("out", root.tensor()).run();
  Call("copy").set("self", Operand{root, {}}).set("out", wide.tensor()).run();
  Call("gt").set("self", Operand{wide, {}}).set("other", Operand{x, {}}).set("out", greater.tensor()).run();
  Call("where")
      .set("condition", Operand{greater, {}})
      .set("self", Operand{wide, {}})
      .set("other", Operand{x, {}})
      .set("out", chosen.tensor())
      .run();
  EXPECT_EQ(test.values(), greater.values());
  const std::vector<double> mine = out.values(), theirs = chosen.values();
  for (size_t i = 0; i < mine.size(); ++i)
    EXPECT_TRUE(mine[i] == theirs[i] || (std::isnan(mine[i]) && std::isnan(theirs[i]))) << i;
}

TEST(Chain, NumbersOfAStep) {
  const ChainGroup group{{kF},
                         {{"leaky_relu", kF, {{"self", 0}}, {{"negative_slope", 0.3}}},
                          {"hardtanh", kF, {{"self", 1}}, {{"min_val", -0.25}, {"max_val", 1e-3}}}},
                         {2}};
  const Array x = Array(kF, {300}).random(1), got(kF, {300}), want(kF, {300});
  Call("chain")
      .set("inputs", std::vector<Tensor>{x})
      .set("outputs", std::vector<Tensor>{got})
      .set("program", chain_program({group}))
      .run();
  Call("leaky_relu")
      .set("self", Operand{x, {}})
      .set("negative_slope", Operand{{}, Scalar(0.3)})
      .set("out", want.tensor())
      .run();
  Call("hardtanh")
      .set("self", Operand{want, {}})
      .set("min_val", Operand{{}, Scalar(-0.25)})
      .set("max_val", Operand{{}, Scalar(1e-3)})
      .set("out", want.tensor())
      .run();
  EXPECT_EQ(got.values(), want.values());
}

TEST(Chain, WrongProgramsAndTensorsAreRefused) {
  const Array x = Array(kF, {4}).random(1), y = Array(kF, {3}).random(1);
  const auto refusal = [](std::vector<Tensor> in, std::vector<Tensor> out) {
    Call call("chain");
    call.set("inputs", in).set("outputs", out).set("program", chain_program({sum_and_product(kF)}));
    return call.refusal();
  };
  EXPECT_NE(refusal({x, y}, {x, x}).find("do"), std::string::npos);
  EXPECT_NE(refusal({x}, {x}).find("more needed"), std::string::npos);
  EXPECT_EQ(Call("chain").set("inputs", std::vector<Tensor>{x}).refusal(), "a chain has no program");
  EXPECT_ERROR(chain_program({{{kF}, {{"unheard_of", kF, {{"self", 0}}}}, {1}}}), Code::kNnInvalidParam,
               "no kernel of unheard_of");
  EXPECT_ERROR(chain_program({{{kF}, {{"neg", kF, {{"self", 7}}}}, {1}}}), Code::kInternal,
               "step neg of a chain reads register 7 of 1");
  EXPECT_ERROR(chain_program({{{kF}, {{"neg", kF, {}}}, {1}}}), Code::kNnInvalidParam, "has 0 operands");
}

}  // namespace
}  // namespace npu::ops
