/* SPDX-License-Identifier: Apache-2.0 */
/* Overflow in saturation mode, which is how a first-generation NPU computes: results beyond the range of their type
 * become its largest number, what is no number becomes 0, and the device's overflow word is set until it is cleared. */
#ifndef ANYNPU_ANYNPU_OVERFLOW_H_
#define ANYNPU_ANYNPU_OVERFLOW_H_

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** Sets how all devices of the process treat overflow: 0 saturates, 1 gives infinities and NaN. 107000 for other
 * numbers, 207000 for 1 where the SoC only saturates; nothing is changed then. */
aclError anynpu_set_overflow_mode(int32_t mode);
/** Stores the mode of `device`. 107001 for no device. */
aclError anynpu_overflow_mode(int32_t device, int32_t* mode);

/** Switches the detection of overflows on `device`, which is on at first: with `on` 0, results saturate as before, the
 * word stays as it is and nothing is told. 107001 for no device. */
aclError anynpu_detect_overflows(int32_t device, int32_t on);
/** Stores 1 in `on` where it is on, else 0. 107001 for no device. */
aclError anynpu_overflow_detection(int32_t device, int32_t* on);

/** The first overflow after the word had been cleared: a result as it was before it was saturated. Members are only
 * ever added at the end; texts live during the call. */
typedef struct {
  size_t struct_size;
  int32_t device;
  int64_t step;         /**< how often the word had been cleared; with loss scaling the training step, counted from 0 */
  const char* function; /**< of the client, that the node is in; "" for an operator run alone */
  const char* node;     /**< the client's name */
  const char* type;     /**< the vendor's name of the operator: "MatMulV2" */
  const char* output;   /**< which result */
  aclDataType dtype;
  int32_t rank;
  const int64_t* sizes; /**< `rank` sizes */
  double least;         /**< smallest and largest of the finite elements; 0 where there are none */
  double most;
  int64_t infinities;
  int64_t nans;
  int64_t saturated; /**< elements at the ends of the type's range afterwards */
  const char* text;  /**< all of it in one line */
} anynpu_overflow;

/** Calls `visit` for each overflow of `device`, the last 64, oldest first. 107001 for no device. */
aclError anynpu_each_overflow(int32_t device, void (*visit)(const anynpu_overflow* overflow, void* context),
                              void* context);
/** From now on calls `visit` for each overflow of any device, on the thread that found it. `visit` must not run
 * operators. Null ends it. */
void anynpu_watch_overflows(void (*visit)(const anynpu_overflow* overflow, void* context), void* context);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* ANYNPU_ANYNPU_OVERFLOW_H_ */
