/* SPDX-License-Identifier: Apache-2.0 */
/* What every aclnnop/aclnn_*.h includes, and what holds for all of their functions.
 *
 * Calls: phase 1 (…GetWorkspaceSize) checks all arguments and makes an executor; phase 2 queues the work on a stream
 * and returns. Results are there once the stream was synchronised. The workspace is always 0 bytes.
 *
 * Tensors: memory of the stream's device, rank 0 to 16, any strides (0 repeats an element), empty ones too. Inputs may
 * share memory with outputs. Shapes broadcast as in torch where the function says so. All tensors of one call, and the
 * stream, belong to one device. A blocked format (NC1HWC0, FRACTAL_…) is refused.
 *
 * Element types: inputs of several types are computed in the type torch promotes them to, and the result is converted
 * to the output's type. "floating" means float32, float16, bfloat16 and, where nothing else is said, float64. float16
 * and bfloat16 are accumulated in float32 and rounded once.
 *
 * Where a function names a page, its arguments have the types that the vendor documents there for the Atlas A2 training
 * series (the path is below https://www.hiascend.com/document/detail/zh/), and those that torch-npu passes besides:
 * what runs on a device through torch-npu runs here. Other types end in 161002, as on a device. An argument for which
 * no type is named takes what its operator computes.
 *
 * Numbers: bits are the same for every run and every number of threads (ANYNPU_THREADS) on one kind of CPU. NaN,
 * infinities, -0 and overflow follow torch on the CPU.
 *
 * Errors: 161001 for a required argument that is NULL, also for a scalar that is not marked "may be NULL"; 161002 for
 * shapes, types and values that do not fit, and for memory that is not live. aclGetRecentErrMsg() names the argument,
 * what was given, and what to do. */
#ifndef ANYNPU_ACLNN_ACLNN_BASE_H_
#define ANYNPU_ACLNN_ACLNN_BASE_H_

#include "aclnn/acl_meta.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/** Begins and ends the use of aclnn functions; neither is needed where aclInit is called, and both may be.
 * `configPath`: NULL, or a JSON file like that of aclInit. 100002 for a second aclnnInit, 100001 for aclnnFinalize
 * without one, the codes of aclInit for a file that cannot be read. */
aclnnStatus aclnnInit(const char* configPath);
aclnnStatus aclnnFinalize(void);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif  // ANYNPU_ACLNN_ACLNN_BASE_H_
