// SPDX-License-Identifier: Apache-2.0
#include "acl/aclnn/memory_check.h"

namespace npu::acl {

void check_memory(Tensor& tensor, bool written, const char* name) {
  const int64_t span = tensor.span();
  if (span == 0) return;
  require(!written || tensor.offset + span <= tensor.storage_elements,
          "{} is {}: its view ends at element {} of a storage of {}; pass the real storageDims", name, tensor,
          tensor.offset + span, tensor.storage_elements);
}

}  // namespace npu::acl
