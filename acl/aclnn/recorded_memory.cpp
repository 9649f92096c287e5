// SPDX-License-Identifier: Apache-2.0
#include "acl/aclnn/recorded_memory.h"

#include "acl/aclnn/memory_check.h"

namespace npu::acl {

void RecordedMemory::add(const Tensor& tensor, const char* name) {
  if (!tensor.defined() || tensor.data == nullptr || tensor.span() == 0) return;
  parts_.push_back({device::Hold(tensor.bytes()), tensor, name});
}

void RecordedMemory::add(ops::Operator& op) {
  ops::for_each_tensor(op, [this](const Tensor& tensor, const ops::Field& field) { add(tensor, field.name.data()); });
}

void RecordedMemory::check() const {
  for (const Part& part : parts_) {
    if (part.hold)
      device::check_not_freed(part.hold, part.name);
    else
      check_still_live(part.tensor, part.name);
  }
}

}  // namespace npu::acl
