// SPDX-License-Identifier: Apache-2.0
// Handing a prepared operator to a stream.
#pragma once

#include <memory>
#include <string>

#include "acl/include/acl/acl_base.h"
#include "base/setting.h"
#include "device/queue/stream.h"
#include "ops/operator.h"

namespace npu::acl {

/// Queues `op` on `stream`. `name` must live as long as the process.
void launch(device::Stream& stream, const char* name, std::unique_ptr<ops::Operator> op);

/// Queues a task that calls run_on_device. Where the client has no queue of its own (TASK_QUEUE_ENABLE=0) the failure
/// of one that ran at once is raised here, while the client still stands at the call; the stream has then told it.
void launch_kernel(device::Stream& stream, device::Task&& task);

/// What the task of a call does: computes and, while `device` saturates, brings results into range. `name` stands in
/// reports of overflow. Raises 507015, the code of failed tasks, whatever the operator raised.
void run_on_device(int device, const char* name, ops::Operator& op);

namespace detail {
extern Setting<std::string> task_queue;  // TASK_QUEUE_ENABLE
}

}  // namespace npu::acl
