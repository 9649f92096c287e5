/* SPDX-License-Identifier: Apache-2.0 */
/* What a tensor's memory looks like once aclnnNpuFormatCast has cast it. */
#ifndef ANYNPU_ACLNN_FORMAT_CAST_H_
#define ANYNPU_ACLNN_FORMAT_CAST_H_

#include "aclnn/aclnn_base.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/** Storage sizes and format of `srcTensor` in another format: ACL_FORMAT_FRACTAL_NZ for a plain tensor, whose matrices
 * become blocks of 16 rows, or a plain format for one in ACL_FORMAT_FRACTAL_NZ.
 * @param srcTensor [in] two dimensions at least, elements of 1, 2, 4 or 8 bytes
 * @param dstFormat [in] ACL_FORMAT_FRACTAL_NZ, or ACL_FORMAT_ND, NCHW, NHWC, NCL, NCDHW
 * @param additionalDtype [in] the aclDataType that says how wide a block is: as many as 32 bytes hold of it
 * @param dstShape [out] the storage's sizes, in an array that the caller frees with delete[]
 * @param dstShapeSize [out] how many
 * @param actualFormat [out] `dstFormat`
 * @return 0; 161001 a pointer is NULL; 161002 no such cast. The reason is in aclGetRecentErrMsg(). */
aclnnStatus aclnnNpuFormatCastCalculateSizeAndFormat(const aclTensor* srcTensor, int dstFormat, int additionalDtype,
                                                     int64_t** dstShape, uint64_t* dstShapeSize, int* actualFormat);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif  // ANYNPU_ACLNN_FORMAT_CAST_H_
