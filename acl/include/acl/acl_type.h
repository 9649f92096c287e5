/* SPDX-License-Identifier: Apache-2.0 */
/* Words of the C interface that every other header needs: return codes, element types, layouts, opaque handles. The
 * numbers never change: compiled programs contain them. */
#ifndef ANYNPU_ACL_ACL_TYPE_H_
#define ANYNPU_ACL_ACL_TYPE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl/acl_error.h"

/* A C caller may hand over any int as an enum; `: int` makes it a value C++ can look at, and refuse. */
#ifdef __cplusplus
#define ANYNPU_ANY_INT : int
#else
#define ANYNPU_ANY_INT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** 0 means success; every other value is one of the ACL_ERROR_ numbers. */
typedef int aclError;

/* What programs that define functions of the C interface put before them, as the headers of torch-npu do. */
#define ACL_FUNC_VISIBILITY __attribute__((visibility("default")))

/** Opaque handles: only the pointer crosses the interface. A null stream is the default stream of the thread's context.
 * Handles that are unknown or were destroyed are recognised and refused, mostly with 107017. */
typedef void* aclrtStream;
typedef void* aclrtEvent;
typedef void* aclrtContext;
/** Bits of one IEEE half: 1 sign, 5 exponent, 10 fraction. */
typedef uint16_t aclFloat16;

/** Element types. Operators compute with bool, the integers of 8 to 64 bits, ACL_FLOAT16, ACL_BF16, ACL_FLOAT,
 * ACL_DOUBLE and the two larger complex types, each as far as torch does on the CPU; half-precision types are computed
 * in float32 and rounded once. The others are names only: no operator computes them, which phase 1
 * of an aclnn function answers with 161002. */
typedef enum ANYNPU_ANY_INT {
  ACL_DT_UNDEFINED = -1,
  /* 4 bytes, IEEE single; 2 bytes, IEEE half. */
  ACL_FLOAT = 0,
  ACL_FLOAT16 = 1,
  ACL_INT8 = 2,
  ACL_INT32 = 3,
  ACL_UINT8 = 4,
  ACL_INT16 = 6,
  ACL_UINT16 = 7,
  ACL_UINT32 = 8,
  ACL_INT64 = 9,
  ACL_UINT64 = 10,
  ACL_DOUBLE = 11,
  /* 1 byte: 0 is false, anything else true. */
  ACL_BOOL = 12,
  ACL_STRING = 13,
  /* Real part, then imaginary part: two floats, two doubles. */
  ACL_COMPLEX64 = 16,
  ACL_COMPLEX128 = 17,
  /* 2 bytes: the upper half of a float. */
  ACL_BF16 = 27,
  /* From here on: names only, see above. */
  ACL_INT4 = 29,
  ACL_UINT1 = 30,
  ACL_COMPLEX32 = 33,
  ACL_HIFLOAT8 = 34,
  ACL_FLOAT8_E5M2 = 35,
  ACL_FLOAT8_E4M3FN = 36,
  ACL_FLOAT8_E8M0 = 37,
  ACL_FLOAT6_E3M2 = 38,
  ACL_FLOAT6_E2M3 = 39,
  ACL_FLOAT4_E2M1 = 40,
  ACL_FLOAT4_E1M2 = 41
} aclDataType;

/** Meaning of the axes: N batch, C channels, D depth, H height, W width. It says nothing about the strides, which
 * aclCreateTensor takes separately: an NCHW tensor may lie in memory with its channels last. Operators go by the order
 * of the axes alone; aclnn functions refuse a blocked format (NC1HWC0, FRACTAL_…). */
typedef enum ANYNPU_ANY_INT {
  ACL_FORMAT_UNDEFINED = -1,
  ACL_FORMAT_NCHW = 0,
  ACL_FORMAT_NHWC = 1,
  ACL_FORMAT_ND = 2,
  ACL_FORMAT_NC1HWC0 = 3,
  ACL_FORMAT_FRACTAL_Z = 4,
  ACL_FORMAT_NC1HWC0_C04 = 12,
  ACL_FORMAT_HWCN = 16,
  ACL_FORMAT_NDHWC = 27,
  ACL_FORMAT_FRACTAL_NZ = 29,
  ACL_FORMAT_NCDHW = 30,
  ACL_FORMAT_NDC1HWC0 = 32,
  ACL_FRACTAL_Z_3D = 33,
  ACL_FORMAT_NC = 35,
  ACL_FORMAT_NCL = 47
} aclFormat;

#ifdef __cplusplus
}
#endif

#endif  // ANYNPU_ACL_ACL_TYPE_H_
