/* SPDX-License-Identifier: Apache-2.0 */
/* Single operators by the name of their type, and options of the operator compiler. */
#ifndef ANYNPU_ACL_ACL_OP_COMPILER_H_
#define ANYNPU_ACL_ACL_OP_COMPILER_H_

#include "acl/acl_base.h"
#include "acl/acl_op.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

typedef enum { ACL_COMPILE_SYS = 0, ACL_COMPILE_UNREGISTERED = 1 } aclopCompileType;
typedef enum { ACL_OP_COMPILE_DEFAULT = 0, ACL_OP_COMPILE_FUZZ = 1 } aclOpCompileFlag;

typedef enum {
  ACL_PRECISION_MODE = 0,
  ACL_AICORE_NUM = 1,
  ACL_AUTO_TUNE_MODE = 2,
  ACL_OP_SELECT_IMPL_MODE = 3,
  ACL_OPTYPELIST_FOR_IMPLMODE = 4,
  ACL_OP_DEBUG_LEVEL = 5,
  ACL_DEBUG_DIR = 6,
  ACL_OP_COMPILER_CACHE_MODE = 7,
  ACL_OP_COMPILER_CACHE_DIR = 8,
  ACL_OP_PERFORMANCE_MODE = 9,
  ACL_OP_JIT_COMPILE = 10,
  ACL_OP_DETERMINISTIC = 11,
  ACL_CUSTOMIZE_DTYPES = 12,
  ACL_OP_PRECISION_MODE = 13,
  ACL_ALLOW_HF32 = 14,
  ACL_PRECISION_MODE_V2 = 15,
  ACL_OP_DEBUG_OPTION = 16
} aclCompileOpt;

/** Options are kept and given back; there is nothing to compile, so none changes a result. */
aclError aclSetCompileopt(aclCompileOpt opt, const char* value);
/** Bytes that aclGetCompileopt needs, the closing zero included; 0 for an unknown option. */
size_t aclGetCompileoptSize(aclCompileOpt opt);
/** "" for an option never set. 100000 when `length` is too small. */
aclError aclGetCompileopt(aclCompileOpt opt, char* value, size_t length);
/** Whether shapes may change between calls: they always may. */
aclError aclopSetCompileFlag(aclOpCompileFlag flag);

/** Queues one operator on `stream`. `opType` is the vendor's type name (Identity, Cast …). Only a few types are known
 * here, most operators are reached through aclnn functions; 100024 and a text for the others. Descriptions, buffers and
 * attributes may be destroyed when the call returns. `engineType`, `compileFlag` and `opPath` are ignored. */
aclError aclopCompileAndExecute(const char* opType, int numInputs, const aclTensorDesc* const inputDesc[],
                                const aclDataBuffer* const inputs[], int numOutputs,
                                const aclTensorDesc* const outputDesc[], aclDataBuffer* const outputs[],
                                const aclopAttr* attr, aclopEngineType engineType, aclopCompileType compileFlag,
                                const char* opPath, aclrtStream stream);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif  // ANYNPU_ACL_ACL_OP_COMPILER_H_
