// SPDX-License-Identifier: Apache-2.0
#include "acl/model/aipp.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>

#include "acl/call.h"
#include "base/half.h"

namespace npu::acl {
namespace {

using ops::AippPicture;
using ops::PictureFormat;

constexpr uint64_t kMostPictures = 127;  // their number is a signed byte of the block

template <class T>
void within(T value, T low, T high, const char* argument) {
  // Written so that NaN is outside, too.
  if (!(value >= low && value <= high))
    fail(Code::kInvalidParam, "{} is {}; it lies between {} and {}", argument, value, low, high);
}

int8_t switched(int8_t value, const char* argument) {
  within<int>(value, 0, 1, argument);
  return value;
}

AippPicture& picture(aclmdlAIPP* aipp, uint64_t index) {
  aclmdlAIPP& a = described(aipp, "aippParmsSet");
  if (index >= a.pictures.size())
    fail(Code::kInvalidParam, "batchIndex is {}; aclmdlCreateAIPP was asked for {} pictures, counted from 0", index,
         a.pictures.size());
  return a.pictures[index];
}

void set_means(int16_t (&place)[4], std::initializer_list<int16_t> values) {
  for (const int16_t value : values) within<int>(value, 0, 255, "a mean");
  std::copy(values.begin(), values.end(), place);
}

void set_halves(uint16_t (&place)[4], std::initializer_list<float> values, float low, float high, const char* what) {
  for (const float value : values) within(value, low, high, what);
  std::transform(values.begin(), values.end(), place, [](float value) { return Half::from_float(value); });
}

void check_even(const ops::AippHead& head, const AippPicture& p) {
  const bool even = head.width % 2 == 0 && head.height % 2 == 0 && (!p.crops || (p.left % 2 == 0 && p.top % 2 == 0));
  if (head.format == PictureFormat::kYuv420 && !even)
    fail(Code::kInvalidParam,
         "the pictures are {} x {}, the crop begins at ({}, {}); with ACL_YUV420SP_U8 all must be even", head.width,
         head.height, p.left, p.top);
}

void check_crop(const ops::AippHead& head, const AippPicture& p) {
  if (p.crops && (p.left + p.width > head.width || p.top + p.height > head.height))
    fail(Code::kInvalidParam, "the crop {} x {} at ({}, {}) is not within the pictures of {} x {}", p.width, p.height,
         p.left, p.top, head.width, head.height);
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

std::string aclmdlAIPP::block() const {
  if (head.width == 0)
    fail(Code::kInvalidParam, "the pictures have no size; call aclmdlSetAIPPSrcImageSize before they are used");
  if (head.format == PictureFormat::kGray && head.converts)
    fail(Code::kInvalidParam, "colours of ACL_YUV400_U8 cannot be converted: it has none; set cscSwitch to 0");
  for (const ops::AippPicture& p : pictures) {
    check_even(head, p);
    check_crop(head, p);
  }
  std::string out(sizeof(head) + pictures.size() * sizeof(ops::AippPicture), '\0');
  std::memcpy(out.data(), &head, sizeof(head));
  std::memcpy(out.data() + sizeof(head), pictures.data(), pictures.size() * sizeof(ops::AippPicture));
  return out;
}

aclmdlAIPP* aclmdlCreateAIPP(uint64_t batchSize) {
  return call_or<aclmdlAIPP*>("aclmdlCreateAIPP", nullptr, [&] {
    within<uint64_t>(batchSize, 1, kMostPictures, "batchSize");
    aclmdlAIPP aipp{{}, std::vector<ops::AippPicture>(batchSize)};
    aipp.head.pictures = static_cast<int8_t>(batchSize);
    return DescriptionPool<aclmdlAIPP>::create(std::move(aipp));
  });
}
aclError aclmdlDestroyAIPP(const aclmdlAIPP* aippParmsSet) {
  return call("aclmdlDestroyAIPP", [&] {
    described(aippParmsSet, "aippParmsSet");
    DescriptionPool<aclmdlAIPP>::destroy(aippParmsSet);
  });
}

aclError aclmdlSetAIPPInputFormat(aclmdlAIPP* aippParmsSet, aclAippInputFormat inputFormat) {
  return call("aclmdlSetAIPPInputFormat", [&] {
    if (inputFormat < ACL_YUV420SP_U8 || inputFormat > ACL_YUV400_U8)
      fail(Code::kInvalidParam,
           "inputFormat is {}; built are 1 (YUV420SP_U8), 2 (XRGB8888_U8), 3 (RGB888_U8) and 4 (YUV400_U8)",
           static_cast<int>(inputFormat));
    described(aippParmsSet, "aippParmsSet").head.format = static_cast<PictureFormat>(inputFormat);
  });
}
aclError aclmdlSetAIPPCscParams(aclmdlAIPP* aippParmsSet, int8_t cscSwitch, int16_t cscMatrixR0C0,
                                int16_t cscMatrixR0C1, int16_t cscMatrixR0C2, int16_t cscMatrixR1C0,
                                int16_t cscMatrixR1C1, int16_t cscMatrixR1C2, int16_t cscMatrixR2C0,
                                int16_t cscMatrixR2C1, int16_t cscMatrixR2C2, uint8_t cscOutputBiasR0,
                                uint8_t cscOutputBiasR1, uint8_t cscOutputBiasR2, uint8_t cscInputBiasR0,
                                uint8_t cscInputBiasR1, uint8_t cscInputBiasR2) {
  return call("aclmdlSetAIPPCscParams", [&] {
    ops::AippHead& head = described(aippParmsSet, "aippParmsSet").head;
    head.converts = switched(cscSwitch, "cscSwitch");
    const int16_t matrix[] = {cscMatrixR0C0, cscMatrixR0C1, cscMatrixR0C2, cscMatrixR1C0, cscMatrixR1C1,
                              cscMatrixR1C2, cscMatrixR2C0, cscMatrixR2C1, cscMatrixR2C2};
    const uint8_t output[] = {cscOutputBiasR0, cscOutputBiasR1, cscOutputBiasR2};
    const uint8_t input[] = {cscInputBiasR0, cscInputBiasR1, cscInputBiasR2};
    std::copy_n(matrix, 9, head.matrix);
    std::copy_n(output, 3, head.output_bias);
    std::copy_n(input, 3, head.input_bias);
  });
}
aclError aclmdlSetAIPPRbuvSwapSwitch(aclmdlAIPP* aippParmsSet, int8_t rbuvSwapSwitch) {
  return call("aclmdlSetAIPPRbuvSwapSwitch",
              [&] { described(aippParmsSet, "aippParmsSet").head.swaps = switched(rbuvSwapSwitch, "rbuvSwapSwitch"); });
}
aclError aclmdlSetAIPPAxSwapSwitch(aclmdlAIPP* aippParmsSet, int8_t axSwapSwitch) {
  return call("aclmdlSetAIPPAxSwapSwitch",
              [&] { described(aippParmsSet, "aippParmsSet").head.rotates = switched(axSwapSwitch, "axSwapSwitch"); });
}
aclError aclmdlSetAIPPSrcImageSize(aclmdlAIPP* aippParmsSet, int32_t srcImageSizeW, int32_t srcImageSizeH) {
  return call("aclmdlSetAIPPSrcImageSize", [&] {
    ops::AippHead& head = described(aippParmsSet, "aippParmsSet").head;
    within(srcImageSizeW, 2, 4096, "srcImageSizeW");
    within(srcImageSizeH, 1, 4096, "srcImageSizeH");
    head.width = srcImageSizeW, head.height = srcImageSizeH;
  });
}
aclError aclmdlSetAIPPScfParams(aclmdlAIPP* aippParmsSet, int8_t scfSwitch, int32_t, int32_t, int32_t, int32_t,
                                uint64_t batchIndex) {
  return call("aclmdlSetAIPPScfParams", [&] {
    picture(aippParmsSet, batchIndex);
    if (switched(scfSwitch, "scfSwitch") == 1)
      fail(Code::kFeatureUnsupported,
           "scaling in AIPP is not built, nor is it on the device; resize pictures before (acldvppVpcResizeAsync)");
  });
}
aclError aclmdlSetAIPPCropParams(aclmdlAIPP* aippParmsSet, int8_t cropSwitch, int32_t cropStartPosW,
                                 int32_t cropStartPosH, int32_t cropSizeW, int32_t cropSizeH, uint64_t batchIndex) {
  return call("aclmdlSetAIPPCropParams", [&] {
    AippPicture& p = picture(aippParmsSet, batchIndex);
    if (switched(cropSwitch, "cropSwitch") == 1) {
      within(cropStartPosW, 0, 4095, "cropStartPosW");
      within(cropStartPosH, 0, 4095, "cropStartPosH");
      within(cropSizeW, 1, 4096, "cropSizeW");
      within(cropSizeH, 1, 4096, "cropSizeH");
    }
    p.crops = cropSwitch;
    p.left = cropStartPosW, p.top = cropStartPosH, p.width = cropSizeW, p.height = cropSizeH;
  });
}
aclError aclmdlSetAIPPPaddingParams(aclmdlAIPP* aippParmsSet, int8_t paddingSwitch, int32_t paddingSizeTop,
                                    int32_t paddingSizeBottom, int32_t paddingSizeLeft, int32_t paddingSizeRight,
                                    uint64_t batchIndex) {
  return call("aclmdlSetAIPPPaddingParams", [&] {
    AippPicture& p = picture(aippParmsSet, batchIndex);
    if (switched(paddingSwitch, "paddingSwitch") == 1)
      for (const int32_t size : {paddingSizeTop, paddingSizeBottom, paddingSizeLeft, paddingSizeRight})
        within(size, 0, 32, "a size of the padding");
    p.pads = paddingSwitch;
    p.pad_top = paddingSizeTop, p.pad_bottom = paddingSizeBottom;
    p.pad_left = paddingSizeLeft, p.pad_right = paddingSizeRight;
  });
}
aclError aclmdlSetAIPPDtcPixelMean(aclmdlAIPP* aippParmsSet, int16_t dtcPixelMeanChn0, int16_t dtcPixelMeanChn1,
                                   int16_t dtcPixelMeanChn2, int16_t dtcPixelMeanChn3, uint64_t batchIndex) {
  return call("aclmdlSetAIPPDtcPixelMean", [&] {
    set_means(picture(aippParmsSet, batchIndex).mean,
              {dtcPixelMeanChn0, dtcPixelMeanChn1, dtcPixelMeanChn2, dtcPixelMeanChn3});
  });
}
aclError aclmdlSetAIPPDtcPixelMin(aclmdlAIPP* aippParmsSet, float dtcPixelMinChn0, float dtcPixelMinChn1,
                                  float dtcPixelMinChn2, float dtcPixelMinChn3, uint64_t batchIndex) {
  return call("aclmdlSetAIPPDtcPixelMin", [&] {
    set_halves(picture(aippParmsSet, batchIndex).min,
               {dtcPixelMinChn0, dtcPixelMinChn1, dtcPixelMinChn2, dtcPixelMinChn3}, 0, 255, "a minimum");
  });
}
aclError aclmdlSetAIPPPixelVarReci(aclmdlAIPP* aippParmsSet, float dtcPixelVarReciChn0, float dtcPixelVarReciChn1,
                                   float dtcPixelVarReciChn2, float dtcPixelVarReciChn3, uint64_t batchIndex) {
  return call("aclmdlSetAIPPPixelVarReci", [&] {
    set_halves(picture(aippParmsSet, batchIndex).scale,
               {dtcPixelVarReciChn0, dtcPixelVarReciChn1, dtcPixelVarReciChn2, dtcPixelVarReciChn3}, -65504, 65504,
               "a factor");
  });
}
