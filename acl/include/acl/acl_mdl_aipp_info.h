/* SPDX-License-Identifier: Apache-2.0 */
/* What AIPP in front of a model's input does (acl_mdl_aipp.h tells what the words mean). */
#ifndef ANYNPU_ACL_ACL_MDL_AIPP_INFO_H_
#define ANYNPU_ACL_ACL_MDL_AIPP_INFO_H_

#include "acl/acl_mdl_aipp.h"
#include "acl/acl_mdl_execute.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/** The sizes and bytes of the pictures as they come, and of what the model takes; -1 and 0 where a run decides. */
typedef struct aclAippDims {
  aclmdlIODims srcDims;
  size_t srcSize;
  aclmdlIODims aippOutdims;
  size_t aippOutSize;
} aclAippDims;

/** Reserved. */
typedef struct aclAippExtendInfo aclAippExtendInfo;

typedef struct aclAippInfo {
  aclAippInputFormat inputFormat;
  int32_t srcImageSizeW;
  int32_t srcImageSizeH;
  int8_t cropSwitch;
  int32_t loadStartPosW;
  int32_t loadStartPosH;
  int32_t cropSizeW;
  int32_t cropSizeH;
  int8_t resizeSwitch;
  int32_t resizeOutputW;
  int32_t resizeOutputH;
  int8_t paddingSwitch;
  int32_t leftPaddingSize;
  int32_t rightPaddingSize;
  int32_t topPaddingSize;
  int32_t bottomPaddingSize;
  int8_t cscSwitch;
  int8_t rbuvSwapSwitch;
  int8_t axSwapSwitch;
  int8_t singleLineMode;
  int32_t matrixR0C0;
  int32_t matrixR0C1;
  int32_t matrixR0C2;
  int32_t matrixR1C0;
  int32_t matrixR1C1;
  int32_t matrixR1C2;
  int32_t matrixR2C0;
  int32_t matrixR2C1;
  int32_t matrixR2C2;
  int32_t outputBias0;
  int32_t outputBias1;
  int32_t outputBias2;
  int32_t inputBias0;
  int32_t inputBias1;
  int32_t inputBias2;
  int32_t meanChn0;
  int32_t meanChn1;
  int32_t meanChn2;
  int32_t meanChn3;
  float minChn0;
  float minChn1;
  float minChn2;
  float minChn3;
  float varReciChn0;
  float varReciChn1;
  float varReciChn2;
  float varReciChn3;
  aclFormat srcFormat; /**< of what the model takes, as the following */
  aclDataType srcDatatype;
  size_t srcDimNum;
  size_t shapeCount; /**< of outDims: one, or one for each gear */
  aclAippDims outDims[ACL_MAX_SHAPE_COUNT];
  aclAippExtendInfo* aippExtend; /**< NULL */
} aclAippInfo;

/** The configuration in front of input `index`; of dynamic AIPP, srcFormat and what follows it, all else is 0. 145003
 * for no model of this number, 145015 for an input without AIPP. */
aclError aclmdlGetFirstAippInfo(uint32_t modelId, size_t index, aclAippInfo* aippinfo);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif  // ANYNPU_ACL_ACL_MDL_AIPP_INFO_H_
