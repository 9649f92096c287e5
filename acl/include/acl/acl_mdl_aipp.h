/* SPDX-License-Identifier: Apache-2.0 */
/* Dynamic AIPP: how pictures of bytes become the input of a model, told from run to run (docs/models.md). An object
 * holds what applies to all pictures and, for each of `batchSize` pictures, what applies to it; aclmdlSetInputAIPP
 * gives it to a run. Numbers are checked here; whether they fit each other and the model, there. All setters answer
 * 100000 for an object that is null or destroyed, a number out of range, a `batchIndex` that is not below batchSize. */
#ifndef ANYNPU_ACL_ACL_MDL_AIPP_H_
#define ANYNPU_ACL_ACL_MDL_AIPP_H_

#include "acl/acl_base.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/** How the bytes of a picture lie. The first four are built: YUV420SP_U8 is a plane of Y, then one of U and V in turn;
 * XRGB8888_U8 and RGB888_U8 are 4 and 3 bytes for each pixel, YUV400_U8 is a plane of Y. */
typedef enum ANYNPU_ANY_INT {
  ACL_YUV420SP_U8 = 1,
  ACL_XRGB8888_U8 = 2,
  ACL_RGB888_U8 = 3,
  ACL_YUV400_U8 = 4,
  ACL_NC1HWC0DI_FP16 = 5,
  ACL_NC1HWC0DI_S8 = 6,
  ACL_ARGB8888_U8 = 7,
  ACL_YUYV_U8 = 8,
  ACL_YUV422SP_U8 = 9,
  ACL_AYUV444_U8 = 10,
  ACL_RAW10 = 11,
  ACL_RAW12 = 12,
  ACL_RAW16 = 13,
  ACL_RAW24 = 14,
  ACL_AIPP_RESERVED = 0xFFFF
} aclAippInputFormat;

typedef struct aclmdlAIPP aclmdlAIPP;

/** Parameters for 1 to 127 pictures; NULL for another number, or when memory is used up. */
aclmdlAIPP* aclmdlCreateAIPP(uint64_t batchSize);
aclError aclmdlDestroyAIPP(const aclmdlAIPP* aippParmsSet);

/** 100000 for formats that are not built. */
aclError aclmdlSetAIPPInputFormat(aclmdlAIPP* aippParmsSet, aclAippInputFormat inputFormat);
/** Colours: each row of the matrix, in 256ths, times the three channels. Of YUV, the input biases are subtracted
 * before; of RGB, the output biases are added behind. Switch 0 (the default) leaves colours alone. */
aclError aclmdlSetAIPPCscParams(aclmdlAIPP* aippParmsSet, int8_t cscSwitch, int16_t cscMatrixR0C0,
                                int16_t cscMatrixR0C1, int16_t cscMatrixR0C2, int16_t cscMatrixR1C0,
                                int16_t cscMatrixR1C1, int16_t cscMatrixR1C2, int16_t cscMatrixR2C0,
                                int16_t cscMatrixR2C1, int16_t cscMatrixR2C2, uint8_t cscOutputBiasR0,
                                uint8_t cscOutputBiasR1, uint8_t cscOutputBiasR2, uint8_t cscInputBiasR0,
                                uint8_t cscInputBiasR1, uint8_t cscInputBiasR2);
/** 1: R and B, or U and V, change places. */
aclError aclmdlSetAIPPRbuvSwapSwitch(aclmdlAIPP* aippParmsSet, int8_t rbuvSwapSwitch);
/** 1: the first of four channels becomes the last, XRGB becomes RGBX. */
aclError aclmdlSetAIPPAxSwapSwitch(aclmdlAIPP* aippParmsSet, int8_t axSwapSwitch);
/** Width 2 to 4096, height 1 to 4096, of the pictures as they come. */
aclError aclmdlSetAIPPSrcImageSize(aclmdlAIPP* aippParmsSet, int32_t srcImageSizeW, int32_t srcImageSizeH);
/** Scaling. Switch 0 only; 207000 for 1: it is not built, nor is it on the device. */
aclError aclmdlSetAIPPScfParams(aclmdlAIPP* aippParmsSet, int8_t scfSwitch, int32_t scfInputSizeW,
                                int32_t scfInputSizeH, int32_t scfOutputSizeW, int32_t scfOutputSizeH,
                                uint64_t batchIndex);
/** The part that is used, with switch 1: begins within 0 to 4095, has 1 to 4096 pixels along each edge. */
aclError aclmdlSetAIPPCropParams(aclmdlAIPP* aippParmsSet, int8_t cropSwitch, int32_t cropStartPosW,
                                 int32_t cropStartPosH, int32_t cropSizeW, int32_t cropSizeH, uint64_t batchIndex);
/** A border of zeros, with switch 1: 0 to 32 pixels along each edge. */
aclError aclmdlSetAIPPPaddingParams(aclmdlAIPP* aippParmsSet, int8_t paddingSwitch, int32_t paddingSizeTop,
                                    int32_t paddingSizeBottom, int32_t paddingSizeLeft, int32_t paddingSizeRight,
                                    uint64_t batchIndex);
/** Each channel becomes (x - mean - min) * var_reci, in fp16. Mean and min lie within 0 to 255, var_reci within fp16;
 * the defaults are 0, 0 and 1. */
aclError aclmdlSetAIPPDtcPixelMean(aclmdlAIPP* aippParmsSet, int16_t dtcPixelMeanChn0, int16_t dtcPixelMeanChn1,
                                   int16_t dtcPixelMeanChn2, int16_t dtcPixelMeanChn3, uint64_t batchIndex);
aclError aclmdlSetAIPPDtcPixelMin(aclmdlAIPP* aippParmsSet, float dtcPixelMinChn0, float dtcPixelMinChn1,
                                  float dtcPixelMinChn2, float dtcPixelMinChn3, uint64_t batchIndex);
aclError aclmdlSetAIPPPixelVarReci(aclmdlAIPP* aippParmsSet, float dtcPixelVarReciChn0, float dtcPixelVarReciChn1,
                                   float dtcPixelVarReciChn2, float dtcPixelVarReciChn3, uint64_t batchIndex);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif  // ANYNPU_ACL_ACL_MDL_AIPP_H_
