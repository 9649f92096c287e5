// SPDX-License-Identifier: Apache-2.0
// Whatever way a bank names, results are the same up to the order of sums.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/error.h"
#include "ops/call_fixture.h"
#include "ops/tuner/workbench.h"
#include "ops/tuning/question.h"

namespace npu::ops::tuning {
namespace {

/// Computes `original` in every way of every question that its planning asks; gives "point: way" of those that applied.
std::set<std::string> compare_ways(Operator& original) {
  Workbench bench(original);
  const auto computed = [&](Operator& op) {
    bench.restore();
    op.run();
    return bench.results(op);
  };
  std::vector<Asked> questions;
  const auto usual = bench.make();
  {
    const Trial trial;
    usual->prepare();
    questions = trial.asked();
  }
  const auto expected = computed(*usual);
  std::set<std::string> applied;
  for (const Asked& asked : questions) {
    for (size_t way = 0; way < asked.point->ways.size(); ++way) {
      Trial trial;
      trial.answer(*asked.point, asked.key, way);
      const auto op = bench.make();
      op->prepare();
      const bool taken = std::ranges::any_of(trial.asked(), [&](const Asked& one) {
        return one.point == asked.point && one.key == asked.key && one.way == std::optional(way);
      });
      if (!taken) continue;
      EXPECT_TRUE(agree(*op, expected, computed(*op))) << asked.key << ": " << asked.point->ways[way];
      applied.insert(fmt::format("{}: {}", asked.point->name, asked.point->ways[way]));
    }
  }
  return applied;
}

std::unique_ptr<Operator> product(const Tensor& a, const Tensor& b, const Tensor& out) {
  auto op = create(*find_operator("matmul"));
  op->def->field("self")->of<Tensor>(*op) = a;
  op->def->field("mat2")->of<Tensor>(*op) = b;
  op->def->field("out")->of<Tensor>(*op) = out;
  return op;
}

TEST(Ways, OfProducts) {
  for (const DType dtype : {DType::kFloat, DType::kBFloat16, DType::kHalf}) {
    for (const auto& [m, n, k] : {std::tuple(160, 200, 192), std::tuple(24, 100, 4096)}) {
      SCOPED_TRACE(fmt::format("{} {} {} {}", name_of(dtype), m, n, k));
      const Array a = Array(dtype, {m, k}).random(1), b = Array(dtype, {k, n}).random(2);
      const Array columns = Array(dtype, {k, n}, {1, 0}).random(3);
      const Array out(dtype, {m, n});
      const auto applied = compare_ways(*product(a, b, out));
      EXPECT_TRUE(applied.contains("product_parts: 4") && applied.contains("product_parts: 32"));
      compare_ways(*product(a, columns, out));
    }
  }
}

std::unique_ptr<Operator> convolution(const Tensor& input, const Tensor& weight, const Tensor& out) {
  auto op = create(*find_operator("convolution"));
  op->def->field("input")->of<Tensor>(*op) = input;
  op->def->field("weight")->of<Tensor>(*op) = weight;
  op->def->field("out")->of<Tensor>(*op) = out;
  op->def->field("stride")->of<std::vector<int64_t>>(*op) = {1, 1};
  op->def->field("padding")->of<std::vector<int64_t>>(*op) = {1, 1};
  op->def->field("dilation")->of<std::vector<int64_t>>(*op) = {1, 1};
  return op;
}

std::unique_ptr<Operator> gradients(const Tensor& grad, const Tensor& input, const Tensor& weight,
                                    const Tensor& grad_input, const Tensor& grad_weight) {
  auto op = create(*find_operator("convolution_backward"));
  op->def->field("grad_output")->of<Tensor>(*op) = grad;
  op->def->field("input")->of<Tensor>(*op) = input;
  op->def->field("weight")->of<Tensor>(*op) = weight;
  op->def->field("grad_input")->of<Tensor>(*op) = grad_input;
  op->def->field("grad_weight")->of<Tensor>(*op) = grad_weight;
  op->def->field("stride")->of<std::vector<int64_t>>(*op) = {1, 1};
  op->def->field("padding")->of<std::vector<int64_t>>(*op) = {1, 1};
  op->def->field("dilation")->of<std::vector<int64_t>>(*op) = {1, 1};
  op->def->field("output_mask")->of<std::vector<bool>>(*op) = {true, true, false};
  return op;
}

TEST(Ways, OfConvolutions) {
  const std::vector<size_t> first{0, 1, 2, 3}, last{0, 2, 3, 1}, outputs_last{2, 3, 1, 0};
  for (const DType dtype : {DType::kFloat, DType::kBFloat16}) {
    for (const auto& [images, weights] : {std::pair(first, first), std::pair(last, outputs_last)}) {
      SCOPED_TRACE(fmt::format("{} {}", name_of(dtype), images == first ? "first" : "last"));
      const Dims shape{4, 32, 14, 14}, filter{48, 32, 3, 3}, result{4, 48, 14, 14};
      const Array input = Array(dtype, shape, images).random(1), weight = Array(dtype, filter, weights).random(2);
      const Array grad = Array(dtype, result, images).random(3), out(dtype, result, images);
      const Array grad_input(dtype, shape, images), grad_weight(dtype, filter, weights);
      auto applied = compare_ways(*convolution(input, weight, out));
      applied.merge(compare_ways(*gradients(grad, input, weight, grad_input, grad_weight)));
      EXPECT_TRUE(applied.contains("conv_way: tiled") && applied.contains("conv_way: unfolded"));
      EXPECT_EQ(applied.contains("conv_way: patches"), dtype == DType::kFloat && images == last);
      EXPECT_TRUE(applied.contains("conv_parts: 4") && applied.contains("conv_parts: 32"));
    }
  }
}

}  // namespace
}  // namespace npu::ops::tuning
