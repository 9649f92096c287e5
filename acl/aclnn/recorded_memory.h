// SPDX-License-Identifier: Apache-2.0
// The memory that a recorded call names. A graph retains it, so a run after the client has freed it works on the old
// addresses, as on hardware; ANYNPU_GUARD=1 makes it an error of the run.
#pragma once

#include <vector>

#include "base/tensor.h"
#include "device/memory/hold.h"
#include "ops/operator.h"

namespace npu::acl {

class RecordedMemory {
 public:
  /// Retains the memory of `tensor`; `name` is the argument's and lives as long as the process.
  void add(const Tensor& tensor, const char* name);
  /// Retains the memory of all tensors of `op`.
  void add(ops::Operator& op);
  /// Raises 161002 when memory that cannot be retained (mapped or imported) is gone; in guard mode 107000 for memory
  /// that was freed.
  void check() const;

 private:
  struct Part {
    device::Hold hold;
    Tensor tensor;
    const char* name;
  };
  std::vector<Part> parts_;
};

}  // namespace npu::acl
