/* SPDX-License-Identifier: Apache-2.0 */
/* The driver, as far as profilers ask it. Source: the calls of torch_npu (BSD), which names no header. */
#ifndef ANYNPU_DRIVER_ASCEND_HAL_H_
#define ANYNPU_DRIVER_ASCEND_HAL_H_

#include <stdint.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/** The version of the driver's interface, 0xMMmmpp; one before 0x071905, from which on times are counts of the chip's
 * own clock (here they are nanoseconds of the host's). 0 is success, 3 is for null. */
int32_t halGetAPIVersion(int32_t* version);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif /* ANYNPU_DRIVER_ASCEND_HAL_H_ */
