// SPDX-License-Identifier: Apache-2.0
#include "acl/include/aclnn/format_cast.h"

#include <gtest/gtest.h>

#include <vector>

#include "acl/include/aclnn/acl_meta.h"

namespace {

struct Layout {
  aclnnStatus status;
  std::vector<int64_t> sizes;
  int format = -1;
};

Layout layout(std::vector<int64_t> shape, aclDataType type, aclFormat from, int to, int by) {
  aclTensor* tensor =
      aclCreateTensor(shape.data(), shape.size(), type, nullptr, 0, from, shape.data(), shape.size(), nullptr);
  int64_t* sizes = nullptr;
  uint64_t count = 0;
  Layout got;
  got.status = aclnnNpuFormatCastCalculateSizeAndFormat(tensor, to, by, &sizes, &count, &got.format);
  if (got.status == 0) got.sizes.assign(sizes, sizes + count);
  delete[] sizes;
  aclDestroyTensor(tensor);
  return got;
}

using Sizes = std::vector<int64_t>;

TEST(FormatCast, BlocksAreAsWideAsTheNamedTypeSays) {
  const Layout half = layout({40, 33}, ACL_FLOAT16, ACL_FORMAT_ND, ACL_FORMAT_FRACTAL_NZ, ACL_FLOAT16);
  EXPECT_EQ(half.sizes, Sizes({3, 3, 16, 16}));
  EXPECT_EQ(half.format, ACL_FORMAT_FRACTAL_NZ);
  EXPECT_EQ(layout({5, 64, 96}, ACL_INT8, ACL_FORMAT_NCL, ACL_FORMAT_FRACTAL_NZ, ACL_INT8).sizes,
            Sizes({5, 3, 4, 16, 32}));
  EXPECT_EQ(layout({16, 16}, ACL_FLOAT, ACL_FORMAT_ND, ACL_FORMAT_FRACTAL_NZ, ACL_FLOAT16).sizes,
            Sizes({1, 1, 16, 16}));
  EXPECT_EQ(layout({16, 16}, ACL_FLOAT, ACL_FORMAT_ND, ACL_FORMAT_FRACTAL_NZ, ACL_FLOAT).sizes, Sizes({2, 1, 16, 8}));
}

TEST(FormatCast, ATensorInBlocksGoesBackToItsOwnSizes) {
  const Layout plain = layout({40, 33}, ACL_FLOAT16, ACL_FORMAT_FRACTAL_NZ, ACL_FORMAT_ND, ACL_FLOAT16);
  EXPECT_EQ(plain.sizes, Sizes({40, 33}));
  EXPECT_EQ(plain.format, ACL_FORMAT_ND);
}

TEST(FormatCast, WhatIsNotBuiltIsRefused) {
  EXPECT_EQ(layout({40}, ACL_FLOAT16, ACL_FORMAT_ND, ACL_FORMAT_FRACTAL_NZ, ACL_FLOAT16).status, 161002);
  EXPECT_EQ(layout({4, 3, 2, 2}, ACL_FLOAT16, ACL_FORMAT_NCHW, ACL_FORMAT_NC1HWC0, ACL_FLOAT16).status, 161002);
  EXPECT_EQ(layout({4, 3}, ACL_FLOAT16, ACL_FORMAT_ND, ACL_FORMAT_FRACTAL_NZ, ACL_DOUBLE).status, 161002);
  EXPECT_EQ(aclnnNpuFormatCastCalculateSizeAndFormat(nullptr, 29, 1, nullptr, nullptr, nullptr), 161001);
}

}  // namespace
