// SPDX-License-Identifier: Apache-2.0
// What phase 1 leaves for phase 2: the prepared operator, which owns copies of everything but device memory.
#pragma once

#include <atomic>
#include <memory>

#include "acl/aclnn/row.h"
#include "device/trace/listener.h"

struct aclOpExecutor {
  const npu::acl::Row* row;
  std::unique_ptr<npu::ops::Operator> op;
  /// Argument name of a tensor without an address (allowed until phase 2, see aclSetInputTensorAddr), else null.
  const char* unaddressed = nullptr;
  /// Where the memory of the tensors is, and the name of one of them; null when none has memory yet.
  int device = -1;
  const char* on_device = nullptr;
  bool repeatable = false;
  npu::device::trace::Owners owners{};  ///< of the thread that made it, while somebody listens to records
};

namespace npu::acl {

using ExecutorPool = Pool<aclOpExecutor, 1 << 18>;

/// The live executor; raises 561103 for null, consumed, destroyed or foreign pointers.
aclOpExecutor& live_executor(aclOpExecutor* executor);

}  // namespace npu::acl
