// SPDX-License-Identifier: Apache-2.0
// The generator of a stateful random node.
#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "graph/plan/lowering.h"
#include "graph/plan/surroundings.h"
#include "ops/random/philox.h"

namespace npu::graph {

/// Where the generator of a node stands; every run takes a stretch of its own.
class NodeGenerator final : public NodeState {
 public:
  explicit NodeGenerator(std::function<ops::RandomCounter()> start) : start_(std::move(start)), next_(start_()) {}
  void restart() override {
    const std::lock_guard lock(mutex_);
    next_ = start_();
  }
  ops::RandomCounter reserve(uint64_t blocks) {
    const std::lock_guard lock(mutex_);
    const ops::RandomCounter from = next_;
    next_ = next_.after(blocks);
    return from;
  }

 private:
  const std::function<ops::RandomCounter()> start_;
  std::mutex mutex_;
  ops::RandomCounter next_;
};

/// The generator of this node, the same for all plans of its function. It begins at the attributes seed and seed2;
/// where both are 0, anywhere.
std::shared_ptr<NodeGenerator> node_generator(Lowering& l);

}  // namespace npu::graph
