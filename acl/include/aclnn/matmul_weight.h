/* SPDX-License-Identifier: Apache-2.0 */
/* How much room the weight of a matrix product needs in the blocked layout ACL_FORMAT_FRACTAL_NZ, which
 * aclnnTransMatmulWeight gives it. Blocks are 16 rows of 32 bytes, so both sizes of a matrix are rounded up. */
#ifndef ANYNPU_ACLNN_MATMUL_WEIGHT_H_
#define ANYNPU_ACLNN_MATMUL_WEIGHT_H_

#include "aclnn/aclnn_base.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/** Elements, not bytes, that a weight of `tensorShape` needs once it is blocked; batch axes come first, the matrix
 * last.
 * @param tensorShape [in] 2 to 6 sizes
 * @param dataType [in] ACL_FLOAT16, ACL_BF16, ACL_FLOAT or ACL_INT8
 * @param weightTensorSize [out] elements
 * @return 0; 161001 a pointer is NULL; 161002 the shape or the element type has no blocked layout. The reason is in
 *         aclGetRecentErrMsg(). */
aclnnStatus aclnnCalculateMatmulWeightSizeV2(const aclIntArray* tensorShape, aclDataType dataType,
                                             uint64_t* weightTensorSize);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif  // ANYNPU_ACLNN_MATMUL_WEIGHT_H_
