// SPDX-License-Identifier: Apache-2.0
// Blocks at positions known only when the work runs.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "ops/runner/call.h"

namespace npu::ops {
namespace {

struct Matrix {
  Matrix() { std::iota(data.begin(), data.end(), 0.0f); }
  Tensor tensor() { return make_tensor(data.data(), DType::kFloat, {3, 4}); }
  std::vector<float> data = std::vector<float>(12);
};

TEST(SliceAt, ReadsWhereThePositionsSayNow) {
  Matrix m;
  std::vector<int32_t> at{1, 2};
  std::vector<float> out(2);
  Call call("slice_at");
  call.set("self", m.tensor()).set("begin", make_tensor(at.data(), DType::kInt32, {2}));
  call.set("axes", std::vector<int64_t>{0, 1}).set("out", make_tensor(out.data(), DType::kFloat, {1, 2}));
  call.run();
  EXPECT_EQ(out, (std::vector<float>{6, 7}));
  at = {2, 0};
  call.compute();
  EXPECT_EQ(out, (std::vector<float>{8, 9}));
  at = {0, 3};
  EXPECT_THROW(call.compute(), Error);
}

TEST(SliceAt, CountsFromTheEndWhenAsked) {
  Matrix m;
  int64_t at = -1;
  std::vector<float> out(3);
  Call call("slice_at");
  call.set("self", m.tensor()).set("begin", make_tensor(&at, DType::kInt64, {}));
  call.set("axes", std::vector<int64_t>{1}).set("out", make_tensor(out.data(), DType::kFloat, {3, 1}));
  EXPECT_THROW(call.run(), Error);
  call.set("wrap", true).run();
  EXPECT_EQ(out, (std::vector<float>{3, 7, 11}));
}

TEST(SlicePut, LeavesTheRest) {
  Matrix m;
  std::vector<int64_t> at{9, 1};
  std::vector<float> row{-1, -2, -3, -4};
  Call("slice_put")
      .set("source", make_tensor(row.data(), DType::kFloat, {1, 4}))
      .set("begin", make_tensor(at.data(), DType::kInt64, {2}))
      .set("axes", std::vector<int64_t>{-1, 0})
      .set("out", m.tensor())
      .run();
  EXPECT_EQ(m.data, (std::vector<float>{0, 1, 2, 3, -1, -2, -3, -4, 8, 9, 10, 11}));
}

}  // namespace
}  // namespace npu::ops
