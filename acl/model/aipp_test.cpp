// SPDX-License-Identifier: Apache-2.0
#include "acl/model/aipp.h"

#include <cmath>
#include <cstring>

#include "acl/runtime/runtime_fixture.h"
#include "base/half.h"

namespace npu::acl {
namespace {

struct Aipp {
  aclmdlAIPP* get;
  explicit Aipp(uint64_t batch = 2) : get(aclmdlCreateAIPP(batch)) { EXPECT_NE(get, nullptr); }
  Aipp(const Aipp&) = delete;
  Aipp& operator=(const Aipp&) = delete;
  ~Aipp() { EXPECT_OK(aclmdlDestroyAIPP(get)); }
};

/// Wrong calls answer 100000 and a text with `word`.
void expect_refused(int code, const char* word) {
  EXPECT_EQ(code, 100000);
  const std::string text = aclGetRecentErrMsg();
  EXPECT_NE(text.find(word), std::string::npos) << text;
}

TEST(DynamicAipp, SettersFillTheBlock) {
  const Aipp aipp;
  EXPECT_OK(aclmdlSetAIPPInputFormat(aipp.get, ACL_YUV420SP_U8));
  EXPECT_OK(aclmdlSetAIPPCscParams(aipp.get, 1, 256, 0, 359, 256, -88, -183, 256, 454, 0, 1, 2, 3, 4, 5, 6));
  EXPECT_OK(aclmdlSetAIPPRbuvSwapSwitch(aipp.get, 1));
  EXPECT_OK(aclmdlSetAIPPSrcImageSize(aipp.get, 256, 224));
  EXPECT_OK(aclmdlSetAIPPCropParams(aipp.get, 1, 2, 4, 224, 220, 1));
  EXPECT_OK(aclmdlSetAIPPPaddingParams(aipp.get, 1, 1, 2, 3, 4, 1));
  EXPECT_OK(aclmdlSetAIPPDtcPixelMean(aipp.get, 104, 117, 123, 0, 0));
  EXPECT_OK(aclmdlSetAIPPDtcPixelMin(aipp.get, 0.5f, 0, 0, 0, 1));
  EXPECT_OK(aclmdlSetAIPPPixelVarReci(aipp.get, 0.017f, -2, 1, 1, 1));
  EXPECT_OK(aclmdlSetAIPPScfParams(aipp.get, 0, 0, 0, 0, 0, 0));
  const std::string block = aipp.get->block();
  ASSERT_EQ(block.size(), 64U + 2 * 96U);
  ops::AippHead head;
  ops::AippPicture first, second;
  std::memcpy(&head, block.data(), sizeof(head));
  std::memcpy(&first, block.data() + 64, sizeof(first));
  std::memcpy(&second, block.data() + 160, sizeof(second));
  EXPECT_EQ(head.format, ops::PictureFormat::kYuv420);
  EXPECT_EQ(head.pictures, 2);
  EXPECT_EQ(head.width, 256);
  EXPECT_EQ(head.matrix[5], -183);
  EXPECT_EQ(head.output_bias[0], 1);
  EXPECT_EQ(head.input_bias[2], 6);
  EXPECT_EQ(head.swaps, 1);
  EXPECT_EQ(first.crops, 0);
  EXPECT_EQ(first.mean[2], 123);
  EXPECT_EQ(first.scale[0], 0x3c00);
  EXPECT_EQ(second.left, 2);
  EXPECT_EQ(second.height, 220);
  EXPECT_EQ(second.pad_bottom, 2);
  EXPECT_EQ(second.pad_left, 3);
  EXPECT_EQ(second.min[0], Half::from_float(0.5f));
  EXPECT_EQ(second.scale[1], Half::from_float(-2));
}

TEST(DynamicAipp, RefusesNumbersOutOfRange) {
  const Aipp aipp;
  EXPECT_EQ(aclmdlCreateAIPP(0), nullptr);
  EXPECT_EQ(aclmdlCreateAIPP(128), nullptr);
  expect_refused(aclmdlSetAIPPInputFormat(aipp.get, ACL_RAW16), "built are");
  expect_refused(aclmdlSetAIPPRbuvSwapSwitch(aipp.get, 2), "rbuvSwapSwitch is 2");
  expect_refused(aclmdlSetAIPPAxSwapSwitch(aipp.get, -1), "axSwapSwitch is -1");
  expect_refused(aclmdlSetAIPPSrcImageSize(aipp.get, 1, 5), "srcImageSizeW is 1");
  expect_refused(aclmdlSetAIPPSrcImageSize(aipp.get, 4, 5000), "srcImageSizeH is 5000");
  expect_refused(aclmdlSetAIPPCropParams(aipp.get, 1, -1, 0, 4, 4, 0), "cropStartPosW");
  expect_refused(aclmdlSetAIPPCropParams(aipp.get, 1, 0, 0, 4, 4, 2), "batchIndex is 2");
  expect_refused(aclmdlSetAIPPPaddingParams(aipp.get, 1, 33, 0, 0, 0, 0), "33");
  expect_refused(aclmdlSetAIPPDtcPixelMean(aipp.get, 0, 256, 0, 0, 0), "256");
  expect_refused(aclmdlSetAIPPDtcPixelMin(aipp.get, NAN, 0, 0, 0, 0), "nan");
  expect_refused(aclmdlSetAIPPPixelVarReci(aipp.get, 1e5f, 0, 0, 0, 0), "100000");
  EXPECT_EQ(aclmdlSetAIPPScfParams(aipp.get, 1, 4, 4, 8, 8, 0), 207000);
  expect_refused(aclmdlSetAIPPRbuvSwapSwitch(nullptr, 0), "null");
  int other = 0;
  expect_refused(aclmdlDestroyAIPP(reinterpret_cast<aclmdlAIPP*>(&other)), "not alive");
}

TEST(DynamicAipp, RefusesWhatDoesNotFit) {
  const Aipp aipp;
  EXPECT_THROW(static_cast<void>(aipp.get->block()), Error);  // no size
  EXPECT_OK(aclmdlSetAIPPSrcImageSize(aipp.get, 33, 16));
  static_cast<void>(aipp.get->block());
  EXPECT_OK(aclmdlSetAIPPInputFormat(aipp.get, ACL_YUV420SP_U8));
  EXPECT_THROW(static_cast<void>(aipp.get->block()), Error);  // odd
  EXPECT_OK(aclmdlSetAIPPSrcImageSize(aipp.get, 32, 16));
  EXPECT_OK(aclmdlSetAIPPCropParams(aipp.get, 1, 16, 0, 18, 16, 1));
  EXPECT_THROW(static_cast<void>(aipp.get->block()), Error);  // beyond the edge
}

}  // namespace
}  // namespace npu::acl
