/* SPDX-License-Identifier: Apache-2.0 */
/* The objects that aclnn functions take, and the executor between their two phases.
 *
 * Life of an object: create, pass to phase 1, destroy any time after phase 2 returned. Phase 1 copies what it needs;
 * only an output whose size is known after the computation (aclnnNonzero …) is written later, so keep that aclTensor
 * until the stream was synchronised. Creators return NULL on bad arguments, with the reason in aclGetRecentErrMsg().
 * Destroying NULL does nothing; destroying an object twice returns 161002. All functions may be called from any thread.
 */
#ifndef ANYNPU_ACLNN_ACL_META_H_
#define ANYNPU_ACLNN_ACL_META_H_

#include "acl/acl_base.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/** 0, or an ACLNN_ERR_ number. */
typedef int32_t aclnnStatus;

static const aclnnStatus ACLNN_SUCCESS = 0;
static const aclnnStatus ACLNN_ERR_PARAM_NULLPTR = 161001;
static const aclnnStatus ACLNN_ERR_PARAM_INVALID = 161002;
static const aclnnStatus ACLNN_ERR_RUNTIME_ERROR = 361001;
static const aclnnStatus ACLNN_ERR_INNER = 561000;
static const aclnnStatus ACLNN_ERR_INNER_FIND_KERNEL_ERROR = 561003;
static const aclnnStatus ACLNN_ERR_INNER_CREATE_EXECUTOR = 561101;
static const aclnnStatus ACLNN_ERR_INNER_NULLPTR = 561103;

typedef struct aclTensor aclTensor;
typedef struct aclScalar aclScalar;
typedef struct aclIntArray aclIntArray;
typedef struct aclBoolArray aclBoolArray;
typedef struct aclFloatArray aclFloatArray;
typedef struct aclTensorList aclTensorList;
typedef struct aclScalarList aclScalarList;
typedef struct aclOpExecutor aclOpExecutor;

/** Describes device memory as a strided view.
 * @param viewDims, viewDimsNum sizes of the view, rank 0 to 16; may be NULL for rank 0.
 * @param stride elements between neighbours of each axis, 0 allowed; NULL means row-major.
 * @param offset elements from the storage start to the first element of the view.
 * @param storageDims, storageDimsNum sizes of the whole storage; their product bounds what outputs may write.
 * @param tensorData start of the storage on the device; may be NULL for empty tensors, or when an address is set later
 *        on a repeatable executor.
 * @return NULL for a rank above 16, a negative size, stride or offset, or an unknown element type. */
aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType, const int64_t* stride,
                           int64_t offset, aclFormat format, const int64_t* storageDims, uint64_t storageDimsNum,
                           void* tensorData);
/** Copies one host number of type `dataType` from `value`. */
aclScalar* aclCreateScalar(void* value, aclDataType dataType);
/** Copies `size` host values. `value` may be NULL when `size` is 0. */
aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size);
aclBoolArray* aclCreateBoolArray(const bool* value, uint64_t size);
aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size);
/** Takes the members over: destroying the list destroys them. Members may be NULL. */
aclTensorList* aclCreateTensorList(const aclTensor* const* value, uint64_t size);
aclScalarList* aclCreateScalarList(const aclScalar* const* value, uint64_t size);

aclnnStatus aclDestroyTensor(const aclTensor* tensor);
aclnnStatus aclDestroyScalar(const aclScalar* scalar);
aclnnStatus aclDestroyIntArray(const aclIntArray* array);
aclnnStatus aclDestroyBoolArray(const aclBoolArray* array);
aclnnStatus aclDestroyFloatArray(const aclFloatArray* array);
aclnnStatus aclDestroyTensorList(const aclTensorList* array);
aclnnStatus aclDestroyScalarList(const aclScalarList* array);

/** Sizes of the view; for outputs of data-dependent size the final ones once the stream was synchronised.
 * @param viewDims receives an array the caller frees with C++ `delete[]`. */
aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** viewDims, uint64_t* viewDimsNum);

/** What aclCreateTensor was given: the storage's sizes (one number, its elements, where none were given), the strides
 * (row-major ones for NULL), offset, format, element type, and the address. Arrays are freed as above. 161001 for a
 * null argument, 161002 for an object that is not alive. */
aclnnStatus aclGetStorageShape(const aclTensor* tensor, int64_t** storageDims, uint64_t* storageDimsNum);
aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** stridesValue, uint64_t* stridesNum);
aclnnStatus aclGetViewOffset(const aclTensor* tensor, int64_t* offset);
aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format);
aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dataType);
aclnnStatus aclGetRawTensorAddr(const aclTensor* tensor, void** addr);
/** Describes a tensor anew, before phase 1 or after phase 2: all of it as in aclCreateTensor (the tensor stays as it
 * was when an argument is refused), or its address alone. */
aclnnStatus aclInitTensor(aclTensor* tensor, const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType,
                          const int64_t* stride, int64_t offset, aclFormat format, const int64_t* storageDims,
                          uint64_t storageDimsNum, void* tensorDataAddr);
aclnnStatus aclSetRawTensorAddr(aclTensor* tensor, void* addr);
/** Members of a list or array. */
aclnnStatus aclGetIntArraySize(const aclIntArray* array, uint64_t* size);
aclnnStatus aclGetFloatArraySize(const aclFloatArray* array, uint64_t* size);
aclnnStatus aclGetBoolArraySize(const aclBoolArray* array, uint64_t* size);
aclnnStatus aclGetTensorListSize(const aclTensorList* tensorList, uint64_t* size);
aclnnStatus aclGetScalarListSize(const aclScalarList* scalarList, uint64_t* size);

/** Frees an executor that phase 2 did not consume, or a repeatable one. */
aclError aclDestroyAclOpExecutor(aclOpExecutor* executor);
/** Lets phase 2 run this executor any number of times; free it with aclDestroyAclOpExecutor. */
aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor);

/** Give a repeatable executor new device addresses between runs; `tensor` learns the address too.
 * `index` counts the tensors among the inputs, the outputs, or both in argument order, list members one by one.
 * `irIndex` counts the arguments and must name a list, `relativeIndex` its member.
 * @return 561103 for a null executor or tensor, 161002 for an index out of range, a tensor that was null in phase 1, or
 *         an executor that is not repeatable. */
aclnnStatus aclSetInputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor, void* addr);
aclnnStatus aclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor, void* addr);
aclnnStatus aclSetTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor, void* addr);
aclnnStatus aclSetDynamicInputTensorAddr(aclOpExecutor* executor, size_t irIndex, const size_t relativeIndex,
                                         aclTensorList* tensors, void* addr);
aclnnStatus aclSetDynamicOutputTensorAddr(aclOpExecutor* executor, size_t irIndex, const size_t relativeIndex,
                                          aclTensorList* tensors, void* addr);
aclnnStatus aclSetDynamicTensorAddr(aclOpExecutor* executor, size_t irIndex, const size_t relativeIndex,
                                    aclTensorList* tensors, void* addr);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif  // ANYNPU_ACLNN_ACL_META_H_
