/* SPDX-License-Identifier: Apache-2.0 */
/* Products of matrices: C = alpha * A * B + beta * C, and y = alpha * A * x + beta * y. Matrices lie row by row in
 * device memory; a leading dimension is -1 for as many elements as a row has, or larger. alpha and beta have the type
 * of the result and may lie in device memory, where they are read when the work runs, or in host memory.
 *
 *   types of A, B (or x)    type of C (or y)
 *   float16, float16        float16, float32    sums in float32, rounded once
 *   int8, int8              int32, float32      sums of integers
 *
 * Work is queued on `stream`. All functions answer 100000 for other types, sizes that are not positive, a matrix that
 * is in a blocked format (ACL_TRANS_NZ…), a transposed C, a null pointer; 107000 for memory that is too small. */
#ifndef ANYNPU_ACL_OPS_ACL_CBLAS_H_
#define ANYNPU_ACL_OPS_ACL_CBLAS_H_

#include "acl/acl_op.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/** How a matrix is stored: as it is used, transposed, or blocked, which is not built. */
typedef enum aclTransType ANYNPU_ANY_INT {
  ACL_TRANS_N = 0,
  ACL_TRANS_T = 1,
  ACL_TRANS_NZ = 2,
  ACL_TRANS_NZ_T = 3
} aclTransType;
/** Both compute the same here. */
typedef enum aclComputeType ANYNPU_ANY_INT {
  ACL_COMPUTE_HIGH_PRECISION = 0,
  ACL_COMPUTE_LOW_PRECISION = 1
} aclComputeType;

/** A is m x n, or stored n x m with ACL_TRANS_T; x and y are n and m elements, `incx` and `incy` apart (-1: side by
 * side), the other way round with ACL_TRANS_T. */
aclError aclblasGemvEx(aclTransType transA, int m, int n, const void* alpha, const void* a, int lda,
                       aclDataType dataTypeA, const void* x, int incx, aclDataType dataTypeX, const void* beta, void* y,
                       int incy, aclDataType dataTypeY, aclComputeType type, aclrtStream stream);
aclError aclblasHgemv(aclTransType transA, int m, int n, const aclFloat16* alpha, const aclFloat16* a, int lda,
                      const aclFloat16* x, int incx, const aclFloat16* beta, aclFloat16* y, int incy,
                      aclComputeType type, aclrtStream stream);
aclError aclblasS8gemv(aclTransType transA, int m, int n, const int32_t* alpha, const int8_t* a, int lda,
                       const int8_t* x, int incx, const int32_t* beta, int32_t* y, int incy, aclComputeType type,
                       aclrtStream stream);

/** A is m x k, B k x n, C m x n; A and B are stored the other way round with ACL_TRANS_T. */
aclError aclblasGemmEx(aclTransType transA, aclTransType transB, aclTransType transC, int m, int n, int k,
                       const void* alpha, const void* matrixA, int lda, aclDataType dataTypeA, const void* matrixB,
                       int ldb, aclDataType dataTypeB, const void* beta, void* matrixC, int ldc, aclDataType dataTypeC,
                       aclComputeType type, aclrtStream stream);
aclError aclblasHgemm(aclTransType transA, aclTransType transB, aclTransType transC, int m, int n, int k,
                      const aclFloat16* alpha, const aclFloat16* matrixA, int lda, const aclFloat16* matrixB, int ldb,
                      const aclFloat16* beta, aclFloat16* matrixC, int ldc, aclComputeType type, aclrtStream stream);
aclError aclblasS8gemm(aclTransType transA, aclTransType transB, aclTransType transC, int m, int n, int k,
                       const int32_t* alpha, const int8_t* matrixA, int lda, const int8_t* matrixB, int ldb,
                       const int32_t* beta, int32_t* matrixC, int ldc, aclComputeType type, aclrtStream stream);

/** The same, checked once and run by aclopExecWithHandle, with five inputs and one output: A, B (or x), C (or y),
 * alpha, beta; C. Rows are side by side. */
aclError aclblasCreateHandleForGemvEx(aclTransType transA, int m, int n, aclDataType dataTypeA, aclDataType dataTypeX,
                                      aclDataType dataTypeY, aclComputeType type, aclopHandle** handle);
aclError aclblasCreateHandleForHgemv(aclTransType transA, int m, int n, aclComputeType type, aclopHandle** handle);
aclError aclblasCreateHandleForS8gemv(aclTransType transA, int m, int n, aclComputeType type, aclopHandle** handle);
aclError aclblasCreateHandleForGemmEx(aclTransType transA, aclTransType transB, aclTransType transC, int m, int n,
                                      int k, aclDataType dataTypeA, aclDataType dataTypeB, aclDataType dataTypeC,
                                      aclComputeType type, aclopHandle** handle);
aclError aclblasCreateHandleForHgemm(aclTransType transA, aclTransType transB, aclTransType transC, int m, int n, int k,
                                     aclComputeType type, aclopHandle** handle);
aclError aclblasCreateHandleForS8gemm(aclTransType transA, aclTransType transB, aclTransType transC, int m, int n,
                                      int k, aclComputeType type, aclopHandle** handle);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif  // ANYNPU_ACL_OPS_ACL_CBLAS_H_
