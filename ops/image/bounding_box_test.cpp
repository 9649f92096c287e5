// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "ops/call_fixture.h"
#include "ops/exact.h"

namespace npu::ops {
namespace {

struct Boxes {
  std::vector<float> first{1, 2, 3, 4, 3, 4, 5, 6}, second, out = std::vector<float>(8);
  Tensor tensor(std::vector<float>& data) const { return make_tensor(data.data(), DType::kFloat, {2, 4}); }
};

std::vector<float> encoded() {
  Boxes b{.second = {5, 6, 7, 8, 7, 8, 9, 6}};
  Call("bounding_box_encode")
      .set("anchor_box", b.tensor(b.first))
      .set("ground_truth_box", b.tensor(b.second))
      .set("stds", std::vector<float>{0.1f, 0.1f, 0.2f, 0.2f})
      .set("out", b.tensor(b.out))
      .run();
  EXPECT_TRUE(std::isnan(b.out[7]));  // the true box ends before it begins
  b.out.pop_back();
  return b.out;
}

// The examples of the vendor's pages.
TEST(BoundingBox, EncodesTheDocumentedExample) {
  EXPECT_EQ(encoded(), (std::vector<float>{13.328125f, 13.328125f, 0, 0, 13.328125f, 6.6640625f, 0}));
}

TEST(BoundingBox, EncodesExactlyWhereThatIsAskedFor) {
  detail::exact_setting.override(true);
  const std::vector<float> found = encoded(), want{13.333333f, 13.333333f, 0, 0, 13.333333f, 6.6666667f, 0};
  detail::exact_setting.override(false);
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(found[i], want[i], 1e-5) << i;
}

TEST(BoundingBox, DecodesTheDocumentedExample) {
  Boxes b{.second = {5, 6, 7, 8, 7, 8, 9, 6}};
  Call("bounding_box_decode")
      .set("rois", b.tensor(b.first))
      .set("deltas", b.tensor(b.second))
      .set("max_shape", std::vector<int64_t>{10, 10})
      .set("wh_ratio_clip", 0.1)
      .set("out", b.tensor(b.out))
      .run();
  const std::vector<float> want{2.5f, 6.5f, 9, 9, 9, 9, 9, 9};
  for (size_t i = 0; i < 8; ++i) EXPECT_NEAR(b.out[i], want[i], 1e-4) << i;
}

TEST(BoundingBox, RefusesWhatDoesNotFit) {
  Boxes b{.second = {5, 6, 7, 8, 7, 8, 9, 6}};
  Call call("bounding_box_decode");
  call.set("rois", b.tensor(b.first)).set("deltas", b.tensor(b.second)).set("out", b.tensor(b.out));
  EXPECT_NE(call.refusal().find("max_shape has 0 numbers"), std::string::npos);
  EXPECT_NE(call.set("means", std::vector<float>{1}).refusal().find("1 means"), std::string::npos);
  EXPECT_NE(call.set("rois", make_tensor(b.first.data(), DType::kFloat, {4, 2})).refusal().find("[boxes, 4]"),
            std::string::npos);
}

}  // namespace
}  // namespace npu::ops
