// SPDX-License-Identifier: Apache-2.0
#include "graph/run/deadline.h"

#include "device/queue/wait_limit.h"
#include "graph/ir/node_error.h"

namespace npu::graph {

Deadline::Deadline(const std::string& graph) : graph_(graph) {
  const device::WaitLimit limit = device::stream_wait_limit();
  if (limit.none() || current_ != nullptr) [[likely]]
    return;
  milliseconds_ = limit.milliseconds;
  end_ = Clock::now() + std::chrono::milliseconds(milliseconds_);
  current_ = this;
}

Deadline::~Deadline() {
  if (current_ == this) current_ = nullptr;
}

void Deadline::check(int device, const Step& step) const {
  if (Clock::now() <= end_) return;
  at_node(*step.node, [&] {
    const device::WaitLimit limit(milliseconds_, device::stream_wait_limit().option);
    fail(Code::kStreamSyncTimeout,
         "the stream of {} on device {} was not done within {}: it executed {} node '{}'; give it more time, or -1 for "
         "no limit",
         graph_, device, to_string(limit), step.node->op, step.node->client_name);
  });
}

}  // namespace npu::graph
