/* SPDX-License-Identifier: Apache-2.0 */
/* What every aclnnop/aclnn_*.h includes. */
#ifndef ANYNPU_ACLNN_ACLNN_BASE_H_
#define ANYNPU_ACLNN_ACLNN_BASE_H_

#include "aclnn/acl_meta.h"

#endif  // ANYNPU_ACLNN_ACLNN_BASE_H_
