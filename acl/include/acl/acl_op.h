/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of a single-operator call (acl_op_compiler.h). Values are copied; setting a name again replaces it. */
#ifndef ANYNPU_ACL_ACL_OP_H_
#define ANYNPU_ACL_ACL_OP_H_

#include "acl/acl_base.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

typedef struct aclopAttr aclopAttr;
typedef struct aclopHandle aclopHandle;
/** Which core runs the operator; the software device ignores it. */
typedef enum ANYNPU_ANY_INT { ACL_ENGINE_SYS = 0, ACL_ENGINE_AICORE = 1, ACL_ENGINE_VECTOR = 2 } aclopEngineType;

/** An empty set of attributes; NULL when memory is used up. */
aclopAttr* aclopCreateAttr(void);
/** Ends the set. NULL does nothing. */
void aclopDestroyAttr(const aclopAttr* attr);

/** Set one attribute, of the type in the function's name; names are the vendor's ("dst_type"), the set keeps a copy.
 * Lists hold `numValues` values, a list of lists has `numLists` of them, the i-th with numValues[i] values.
 * 100000 for a null or destroyed set, a null name, null values or a negative count. */
aclError aclopSetAttrBool(aclopAttr* attr, const char* attrName, uint8_t attrValue);
aclError aclopSetAttrInt(aclopAttr* attr, const char* attrName, int64_t attrValue);
aclError aclopSetAttrFloat(aclopAttr* attr, const char* attrName, float attrValue);
aclError aclopSetAttrString(aclopAttr* attr, const char* attrName, const char* attrValue);
aclError aclopSetAttrDataType(aclopAttr* attr, const char* attrName, aclDataType attrValue);
aclError aclopSetAttrListBool(aclopAttr* attr, const char* attrName, int numValues, const uint8_t* values);
aclError aclopSetAttrListInt(aclopAttr* attr, const char* attrName, int numValues, const int64_t* values);
aclError aclopSetAttrListFloat(aclopAttr* attr, const char* attrName, int numValues, const float* values);
aclError aclopSetAttrListListInt(aclopAttr* attr, const char* attrName, int numLists, const int* numValues,
                                 const int64_t* const values[]);
aclError aclopSetAttrListString(aclopAttr* attr, const char* attrName, int numValues, const char** values);
aclError aclopSetAttrListDataType(aclopAttr* attr, const char* attrName, int numValues, const aclDataType values[]);

/** Operators that were compiled before: all .om files of `atc --singleop` in a folder and up to three folders deep in
 * it, or the bytes of one. Nothing is compiled here; they say which calls aclopExecute takes. 100003 for a folder that
 * is not there or has none, 100025 for the file of a whole model, 100006 for a damaged one. */
aclError aclopSetModelDir(const char* modelDir);
aclError aclopLoad(const void* model, size_t modelSize);
/** Queues an operator as aclopCompileAndExecute does (acl_op_compiler.h), one that was compiled or loaded for such a
 * call: the same type, data types, formats and attributes, and sizes that are the same or were left open (-1; -2 for
 * any dimensions). 100024 where there is none. */
aclError aclopExecute(const char* opType, int numInputs, const aclTensorDesc* const inputDesc[],
                      const aclDataBuffer* const inputs[], int numOutputs, const aclTensorDesc* const outputDesc[],
                      aclDataBuffer* const outputs[], const aclopAttr* attr, aclrtStream stream);
/** The same, and waits, as aclopCompileAndExecuteV2 does: sizes that the values decide are then in the descriptions. */
aclError aclopExecuteV2(const char* opType, int numInputs, aclTensorDesc* inputDesc[], aclDataBuffer* inputs[],
                        int numOutputs, aclTensorDesc* outputDesc[], aclDataBuffer* outputs[], aclopAttr* attr,
                        aclrtStream stream);

/** Writes the sizes of what an operator gives into the description of its output; a size that follows from one which
 * is not known (-1) is -1, and an input of unknown rank (-2) gives such an output. Values that decide (`perm` of
 * Transpose) are read from the buffers, in host or device memory, or from aclSetTensorConst. Built for pointwise types
 * with broadcasting, Transpose, products of matrices, reductions and Softmax; 207000 with the way out for other types,
 * 100024 for unknown ones, 100000 for sizes that do not fit. */
aclError aclopInferShape(const char* opType, int numInputs, aclTensorDesc* inputDesc[], aclDataBuffer* inputs[],
                         int numOutputs, aclTensorDesc* outputDesc[], aclopAttr* attr);

/** A call of an operator type (acl_op_compiler.h), prepared to be run many times: descriptions and attributes are
 * copied and may go. What is wrong with them is told when it runs. 100000 for null, 100024 for an operator that is not
 * known. */
aclError aclopCreateHandle(const char* opType, int numInputs, const aclTensorDesc* const inputDesc[], int numOutputs,
                           const aclTensorDesc* const outputDesc[], const aclopAttr* opAttr, aclopHandle** handle);
/** The same for a conversion between two types. `truncate` has no effect: conversions to integers always cut off. */
aclError aclopCreateHandleForCast(aclTensorDesc* srcDesc, aclTensorDesc* dstDesc, uint8_t truncate,
                                  aclopHandle** handle);
/** Queues such a conversion at once, as aclopCompileAndExecute does. */
aclError aclopCast(const aclTensorDesc* srcDesc, const aclDataBuffer* srcBuffer, const aclTensorDesc* dstDesc,
                   aclDataBuffer* dstBuffer, uint8_t truncate, aclrtStream stream);
/** Queues one run, as aclopCompileAndExecute does, with the memory given. */
aclError aclopExecWithHandle(aclopHandle* handle, int numInputs, const aclDataBuffer* const inputs[], int numOutputs,
                             aclDataBuffer* const outputs[], aclrtStream stream);
/** Ends the handle; queued runs go on. NULL does nothing. */
void aclopDestroyHandle(aclopHandle* handle);

/** Kernels that a client compiled for an NPU's cores: declared, so that programs can be compiled and linked, and not
 * built: machine code of an NPU cannot run here. All answer 207000. */
typedef struct aclopKernelDesc aclopKernelDesc;
typedef void (*aclDataDeallocator)(void* data, size_t length);
typedef aclError (*aclopCompileFunc)(int numInputs, const aclTensorDesc* const inputDesc[], int numOutputs,
                                     const aclTensorDesc* const outputDesc[], const aclopAttr* opAttr,
                                     aclopKernelDesc* kernelDesc);
aclError aclopCreateKernel(const char* opType, const char* kernelId, const char* kernelName, void* binData, int binSize,
                           aclopEngineType enginetype, aclDataDeallocator deallocator);
aclError aclopRegisterCompileFunc(const char* opType, aclopCompileFunc func);
aclError aclopUnregisterCompileFunc(const char* opType);
aclError aclopSetKernelArgs(aclopKernelDesc* kernelDesc, const char* kernelId, uint32_t blockDim, const void* args,
                            uint32_t argSize);
aclError aclopSetKernelWorkspaceSizes(aclopKernelDesc* kernelDesc, int numWorkspaces, size_t* workspaceSizes);
aclError aclopUpdateParams(const char* opType, int numInputs, const aclTensorDesc* const inputDesc[], int numOutputs,
                           const aclTensorDesc* const outputDesc[], const aclopAttr* attr);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif  // ANYNPU_ACL_ACL_OP_H_
