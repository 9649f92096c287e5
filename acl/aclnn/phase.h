// SPDX-License-Identifier: Apache-2.0
// The two phases every generated entry calls.
#pragma once

#include <span>

#include "acl/aclnn/executor.h"

namespace npu::acl {

/// Phase 1: checks everything, builds the executor. Returns 0 or a code with its text kept for the thread:
/// 161001 null argument, 161002 bad argument, 561003 a row without operator, 561000 anything unforeseen.
int phase1(const Row& row, std::span<const Argument> arguments, uint64_t* workspace_size,
           aclOpExecutor** executor) noexcept;

/// Phase 2: queues the work and consumes the executor unless it is repeatable. From any thread.
int phase2(const Row& row, void* workspace, uint64_t workspace_size, aclOpExecutor* executor,
           aclrtStream stream) noexcept;

}  // namespace npu::acl
