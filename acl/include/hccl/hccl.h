/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives between devices. Communicators are not built yet; process-wide settings are taken. */
#ifndef ANYNPU_HCCL_HCCL_H_
#define ANYNPU_HCCL_HCCL_H_

#include <stdint.h>

#include "acl/acl_base.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

typedef enum ANYNPU_ANY_INT { HCCL_SUCCESS = 0, HCCL_E_PARA = 1 } HcclResult;
/** HCCL_DETERMINISTIC: whether sums must not depend on timing. They never do here. */
typedef enum ANYNPU_ANY_INT { HCCL_DETERMINISTIC = 0 } HcclConfig;
typedef union {
  int32_t value;
} HcclConfigValue;

/** Sets one switch for the process. HCCL_E_PARA for an unknown one, or a value outside 0 to 2. */
HcclResult HcclSetConfig(HcclConfig config, HcclConfigValue configValue);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif  // ANYNPU_HCCL_HCCL_H_
