/* SPDX-License-Identifier: Apache-2.0 */
/* What every program of the C interface begins with: its words (acl_type.h) and its descriptions (acl_desc.h). */
#ifndef ANYNPU_ACL_ACL_BASE_H_
#define ANYNPU_ACL_ACL_BASE_H_

#include "acl/acl_desc.h"
#include "acl/acl_type.h"

#endif  // ANYNPU_ACL_ACL_BASE_H_
