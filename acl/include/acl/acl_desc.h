/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions of tensors and memory for single-operator calls (acl_op.h), element types, and the application's log.
 *
 * A description is the caller's until destroyed; calls copy what they need. Functions that return a value in place of
 * a code answer the "nothing" value of their comment for a null or destroyed description. */
#ifndef ANYNPU_ACL_ACL_DESC_H_
#define ANYNPU_ACL_ACL_DESC_H_

#include "acl/acl_type.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/** aclGetTensorDescNumDims of a description whose only dimension is -2. */
#define ACL_UNKNOWN_RANK 0xFFFFFFFFFFFFFFFEuLL

typedef struct aclDataBuffer aclDataBuffer;
typedef struct aclTensorDesc aclTensorDesc;

typedef enum ANYNPU_ANY_INT {
  ACL_MEMTYPE_DEVICE = 0,
  ACL_MEMTYPE_HOST = 1,
  ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT = 2 /**< host memory, too; scalars of torch_npu are in it */
} aclMemType;
typedef enum ANYNPU_ANY_INT { ACL_DEBUG = 0, ACL_INFO = 1, ACL_WARNING = 2, ACL_ERROR = 3 } aclLogLevel;

/** Bytes of one element; 0 for types without whole-byte elements. */
size_t aclDataTypeSize(aclDataType dataType);
/** IEEE half to float and back; rounds to nearest even, keeps infinities, NaN stays NaN. */
float aclFloat16ToFloat(aclFloat16 value);
aclFloat16 aclFloatToFloat16(float value);

/** Wraps device memory the caller owns. NULL when memory for the wrapper is used up. */
aclDataBuffer* aclCreateDataBuffer(void* data, size_t size);
aclError aclDestroyDataBuffer(const aclDataBuffer* dataBuffer);
aclError aclUpdateDataBuffer(aclDataBuffer* dataBuffer, void* data, size_t size);
/** NULL, or 0, for nothing. */
void* aclGetDataBufferAddr(const aclDataBuffer* dataBuffer);
uint32_t aclGetDataBufferSize(const aclDataBuffer* dataBuffer);
size_t aclGetDataBufferSizeV2(const aclDataBuffer* dataBuffer);

/** Type, sizes (-1: known later) and layout of a tensor. ACL_DT_UNDEFINED with no dimensions stands for an optional
 * input that is left out. NULL on a negative `numDims`, more than 128 dimensions, or null `dims` with numDims > 0. */
aclTensorDesc* aclCreateTensorDesc(aclDataType dataType, int numDims, const int64_t* dims, aclFormat format);
void aclDestroyTensorDesc(const aclTensorDesc* desc);

/** ACL_DT_UNDEFINED, ACL_FORMAT_UNDEFINED, 0, 0, -1 or "" for nothing. Size is in bytes. */
aclDataType aclGetTensorDescType(const aclTensorDesc* desc);
aclFormat aclGetTensorDescFormat(const aclTensorDesc* desc);
size_t aclGetTensorDescSize(const aclTensorDesc* desc);
size_t aclGetTensorDescElementCount(const aclTensorDesc* desc);
size_t aclGetTensorDescNumDims(const aclTensorDesc* desc);
int64_t aclGetTensorDescDim(const aclTensorDesc* desc, size_t index);
aclError aclGetTensorDescDimV2(const aclTensorDesc* desc, size_t index, int64_t* dimSize);
const char* aclGetTensorDescName(aclTensorDesc* desc);
/** The least and the most of a size: what was set, else the size twice, else 0 and -1 (no most). `dimRangeNum` is the
 * room of `dimRange`, 2 at least. */
aclError aclGetTensorDescDimRange(const aclTensorDesc* desc, size_t index, size_t dimRangeNum, int64_t* dimRange);
/** NULL: descriptions know no address; the text of the error says where to ask. */
void* aclGetTensorDescAddress(const aclTensorDesc* desc);

void aclSetTensorDescName(aclTensorDesc* desc, const char* name);
/** Layout and sizes in memory, where they differ from the logical ones. */
aclError aclSetTensorFormat(aclTensorDesc* desc, aclFormat format);
aclError aclSetTensorShape(aclTensorDesc* desc, int numDims, const int64_t* dims);
/** Older names of these two. */
aclError aclSetTensorStorageFormat(aclTensorDesc* desc, aclFormat format);
aclError aclSetTensorStorageShape(aclTensorDesc* desc, int numDims, const int64_t* dims);
/** The other way round, for a description that was made of what lies in memory: the logical ones. What it said so far
 * becomes the layout and the sizes in memory, unless these were set. */
aclError aclSetTensorOriginFormat(aclTensorDesc* desc, aclFormat format);
aclError aclSetTensorOriginShape(aclTensorDesc* desc, int numDims, const int64_t* dims);
/** The least and the most of each size, -1 for no most. Kept for aclGetTensorDescDimRange: operators take any size. */
aclError aclSetTensorShapeRange(aclTensorDesc* desc, size_t dimsCount, int64_t dimsRange[][2]);
/** A member of the list of inputs of this name. Checked and not needed: lists are told by the places of inputs. */
aclError aclSetTensorDynamicInput(aclTensorDesc* desc, const char* dynamicInputName);
/** A memType of the host: the buffer given for this tensor is host memory, read during the call. */
aclError aclSetTensorPlaceMent(aclTensorDesc* desc, aclMemType memType);
/** A tensor whose values are `length` host bytes, copied now. */
aclError aclSetTensorConst(aclTensorDesc* desc, void* dataBuffer, size_t length);

/** A printf-style line in the process log (ASCEND_GLOBAL_LOG_LEVEL …); at most 1024 bytes of text. */
void aclAppLog(aclLogLevel logLevel, const char* func, const char* file, uint32_t line, const char* fmt, ...);
#define ACL_APP_LOG(level, fmt, ...) aclAppLog(level, __func__, __FILE__, __LINE__, fmt, ##__VA_ARGS__)

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif  // ANYNPU_ACL_ACL_DESC_H_
