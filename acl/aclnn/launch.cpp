// SPDX-License-Identifier: Apache-2.0
#include "acl/aclnn/launch.h"

#include "device/stream.h"

namespace npu::acl {

void launch(aclrtStream stream, const char* name, std::unique_ptr<ops::Operator> op) {
  device::Task task;
  task.name = name;
  task.cost_ns = op->cost();
  task.body = [op = std::move(op)] { op->run(); };
  device::stream_from_handle(stream).launch(std::move(task));
}

}  // namespace npu::acl
