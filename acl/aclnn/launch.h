// SPDX-License-Identifier: Apache-2.0
// Handing a prepared operator to a stream.
#pragma once

#include <memory>

#include "acl/include/acl/acl_base.h"
#include "ops/operator.h"

namespace npu::acl {

/// Queues `op` on `stream` (null: default stream of the thread's context). `name` must live as long as the process.
void launch(aclrtStream stream, const char* name, std::unique_ptr<ops::Operator> op);

/// What the task of a call does: computes and, while `device` saturates, brings results into range. `name` stands in
/// reports of overflow.
void run_on_device(int device, const char* name, ops::Operator& op);

}  // namespace npu::acl
