// SPDX-License-Identifier: Apache-2.0
#include "acl/aclnn/launch.h"

namespace npu::acl {

void launch(aclrtStream, const char*, std::unique_ptr<ops::Operator> op) { op->run(); }

}  // namespace npu::acl
