// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "ops/call_fixture.h"

namespace npu::ops {
namespace {

/// The gradient of a table of 3 rows that were read as 2, 0, 2, 1.
std::vector<float> gradient(int64_t padding, bool by_frequency) {
  std::vector<float> rows{1, 2, 3, 4, 5, 6, 7, 8}, out(6, 9);
  std::vector<int64_t> read{2, 0, 2, 1};
  Call("embedding_dense_backward")
      .set("grad", make_tensor(rows.data(), DType::kFloat, {4, 2}))
      .set("indices", make_tensor(read.data(), DType::kInt64, {4}))
      .set("num_weights", int64_t{3})
      .set("padding_idx", padding)
      .set("scale_grad_by_freq", by_frequency)
      .set("out", make_tensor(out.data(), DType::kFloat, {3, 2}))
      .run();
  return out;
}

TEST(Embedding, ThePaddingRowHasNoGradient) {
  using Floats = std::vector<float>;
  EXPECT_EQ(gradient(-1, false), (Floats{3, 4, 7, 8, 6, 8}));
  EXPECT_EQ(gradient(0, false), (Floats{0, 0, 7, 8, 6, 8}));
  EXPECT_EQ(gradient(2, false), (Floats{3, 4, 7, 8, 0, 0}));
  EXPECT_EQ(gradient(0, true), (Floats{0, 0, 7, 8, 3, 4}));
}

}  // namespace
}  // namespace npu::ops
