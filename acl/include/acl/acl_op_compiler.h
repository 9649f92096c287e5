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

/** Where the operator's description comes from; ignored, operators are part of the library. */
typedef enum ANYNPU_ANY_INT { ACL_COMPILE_SYS = 0, ACL_COMPILE_UNREGISTERED = 1 } aclopCompileType;
/** For one shape, or for any. */
typedef enum ANYNPU_ANY_INT { ACL_OP_COMPILE_DEFAULT = 0, ACL_OP_COMPILE_FUZZ = 1 } aclOpCompileFlag;

/** Of functions that write down an operator's graph; none is built, the headers of torch-npu name it. */
typedef struct aclGraphDumpOption aclGraphDumpOption;

/** Options of the vendor's operator compiler. Their values are texts whose spelling the vendor's guides give; none is
 * checked, since none has an effect here. In particular results are deterministic and half precision is computed in
 * float32 whatever ACL_OP_DETERMINISTIC and the precision modes say. */
typedef enum ANYNPU_ANY_INT {
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

/** Options are kept and given back; there is nothing to compile, so none changes a result. They are the process's, not
 * the thread's. 100000 for an unknown option or a null value. */
aclError aclSetCompileopt(aclCompileOpt opt, const char* value);
/** Bytes that aclGetCompileopt needs, the closing zero included; 0 for an unknown option. */
size_t aclGetCompileoptSize(aclCompileOpt opt);
/** The value with its closing zero; of an option never set "disable" for ACL_OP_JIT_COMPILE, else "". `length` is the
 * room in bytes; 100000 when it is too small. */
aclError aclGetCompileopt(aclCompileOpt opt, char* value, size_t length);
/** Whether shapes may change between calls: they always may. */
aclError aclopSetCompileFlag(aclOpCompileFlag flag);

/** Queues one operator on `stream`. `opType` is the vendor's type name (Add, Conv2D …); 100024 and a text that lists
 * known types like it for an unknown one. Inputs, outputs and attributes are those of the type, in its order; an
 * optional input that is not used has data type ACL_DT_UNDEFINED, or is left out at the end. An attribute, or a value
 * of one, that is not followed here is refused with 100000; those whose names begin with an underscore are hints to the
 * vendor's compiler and ignored. Numbers that decide what is computed (axes, sizes …) come as constants or in host
 * memory; from device memory they are read after all work in the stream is done. An output that the type calls by the
 * name of an input continues it; where its memory is another one, it begins as a copy. Buffers hold dense row-major
 * elements of what their description says, in device memory unless the description is placed on the host: 100000 for a
 * buffer that is too small or a format that is not ND, NCHW or NCDHW, 107000 for one outside live memory. 100026 for an
 * element type that no operator computes, 161002 for shapes and types that do not fit together, as in aclnn.
 * Descriptions, buffers and attributes may be destroyed when the call returns. `engineType`, `compileFlag` and `opPath`
 * are ignored. */
aclError aclopCompileAndExecute(const char* opType, int numInputs, const aclTensorDesc* const inputDesc[],
                                const aclDataBuffer* const inputs[], int numOutputs,
                                const aclTensorDesc* const outputDesc[], aclDataBuffer* const outputs[],
                                const aclopAttr* attr, aclopEngineType engineType, aclopCompileType compileFlag,
                                const char* opPath, aclrtStream stream);
/** The same, and waits for the result: sizes that only the values decide (NonZero, MaskedSelect …) are then in the
 * descriptions of the outputs, which before the call say the largest sizes there can be. */
aclError aclopCompileAndExecuteV2(const char* opType, int numInputs, aclTensorDesc* inputDesc[],
                                  aclDataBuffer* inputs[], int numOutputs, aclTensorDesc* outputDesc[],
                                  aclDataBuffer* outputs[], aclopAttr* attr, aclopEngineType engineType,
                                  aclopCompileType compileFlag, const char* opPath, aclrtStream stream);

/** Makes calls of this kind known to aclopExecute: nothing has to be compiled. 100024 for an unknown type. Engine, flag
 * and path have no effect. */
aclError aclopCompile(const char* opType, int numInputs, const aclTensorDesc* const inputDesc[], int numOutputs,
                      const aclTensorDesc* const outputDesc[], const aclopAttr* attr, aclopEngineType engineType,
                      aclopCompileType compileFlag, const char* opPath);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif  // ANYNPU_ACL_ACL_OP_COMPILER_H_
