// SPDX-License-Identifier: Apache-2.0
#include "ops/vector/reduction/reduction.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace npu::ops {
namespace {

struct Case {
  Dims shape;
  std::vector<int64_t> dims;
  bool transposed;
};

// Sums `shape` over `dims` with the operator and in double, and compares.
void check_sum(const Case& c) {
  std::mt19937 rng(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> data(static_cast<size_t>(count_of(c.shape)));
  for (float& v : data) v = uniform(rng);
  Tensor self = make_tensor(data.data(), DType::kFloat, c.shape);
  if (c.transposed) self = self.transposed(0, self.rank() - 1);
  const uint32_t axes = axis_bits(c.dims, self.rank());
  const Dims out_shape = reduced_shape(self.shape, axes, true);
  std::vector<float> got(static_cast<size_t>(count_of(out_shape)));
  std::vector<double> want(got.size());
  const Tensor out = make_tensor(got.data(), DType::kFloat, out_shape);
  const Loop all = make_ordered_loop(self.shape, std::vector<Dims>{self.strides, out.expanded(self.shape).strides});
  for (int64_t i = 0; i < all.count(); ++i) {
    const LoopCursor at(all, i);
    want[static_cast<size_t>(at.offset(1))] += data[static_cast<size_t>(at.offset(0))];
  }
  auto op = create(*find_operator("sum"));
  op->def->field("self")->of<Tensor>(*op) = self;
  op->def->field("out")->of<Tensor>(*op) = out;
  op->def->field("dim")->of<std::vector<int64_t>>(*op) = c.dims;
  op->prepare();
  op->run();
  for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-4) << to_string(c.shape) << " at " << i;
}

TEST(Reduction, SumsOverAnyAxes) {
  const std::vector<Dims> shapes{{5}, {300, 700}, {17, 1, 33}, {4, 3, 40, 50}, {200000}, {100000, 9}, {3, 200000}};
  for (const Dims& shape : shapes) {
    for (uint32_t axes = 0; axes < (1u << shape.size()); ++axes) {
      std::vector<int64_t> dims;
      for (size_t i = 0; i < shape.size(); ++i) {
        if ((axes >> i & 1u) != 0) dims.push_back(static_cast<int64_t>(i));
      }
      check_sum({shape, dims, false});
      check_sum({shape, dims, true});
    }
  }
}

TEST(Reduction, OfNothingIsTheNeutralElement) {
  std::vector<float> none, one{5};
  auto op = create(*find_operator("sum"));
  op->def->field("self")->of<Tensor>(*op) = make_tensor(none.data(), DType::kFloat, {0});
  op->def->field("out")->of<Tensor>(*op) = make_tensor(one.data(), DType::kFloat, {});
  op->prepare();
  op->run();
  EXPECT_EQ(one[0], 0);
}

TEST(Reduction, RefusesRepeatedDimensions) { EXPECT_THROW(axis_bits({0, -2}, 2), Error); }

}  // namespace
}  // namespace npu::ops
