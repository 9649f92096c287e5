// SPDX-License-Identifier: Apache-2.0
#include "acl/aclnn/launch.h"

#include "acl/aclnn/foreach.h"
#include "device/state.h"
#include "device/stream.h"
#include "ops/overflow.h"

namespace npu::acl {
namespace {

void describe(const void* name, device::Overflow& overflow) {
  overflow.node = overflow.type = static_cast<const char*>(name);
}

}  // namespace

void run_on_device(int device, const char* name, ops::Operator& op) {
  if (!device::saturates(device)) [[likely]]
    return op.run();
  const ops::OverflowScope scope(device, describe, name);
  op.run();
  if (const auto* all = dynamic_cast<const Foreach*>(&op)) {
    for (const auto& member : all->members()) ops::saturate_results(*member);
  } else {
    ops::saturate_results(op);
  }
}

void launch(aclrtStream stream, const char* name, std::unique_ptr<ops::Operator> op) {
  device::Stream& queue = device::stream_from_handle(stream);
  device::Task task;
  task.name = name;
  task.cost_ns = op->cost();
  task.body = [op = std::move(op), name, device = queue.device()] { run_on_device(device, name, *op); };
  queue.launch(std::move(task));
}

}  // namespace npu::acl
