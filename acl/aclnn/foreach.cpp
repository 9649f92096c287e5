// SPDX-License-Identifier: Apache-2.0
#include "acl/aclnn/foreach.h"

#include "base/thread_pool.h"

namespace npu::acl {
namespace {

// Below this much work (nanoseconds) waking the pool costs more than it saves.
constexpr int64_t kParallelBound = 50'000;

}  // namespace

void Foreach::prepare() {
  for (size_t i = 0; i < members_.size(); ++i) {
    try {
      members_[i]->prepare();
    } catch (const Error& error) {
      // Which member it is stands in front: the client passed a list, not one tensor.
      throw Error(error.code(), fmt::format("member {}: {}", i, error.message()), error.place());
    }
  }
}

void Foreach::run() {
  // In this thread; members that are large share their own work out.
  if (cost() < kParallelBound) {
    for (const auto& member : members_) member->run();
    return;
  }
  parallel_parts(static_cast<int64_t>(members_.size()), [&](int64_t i) { members_[static_cast<size_t>(i)]->run(); });
}

int64_t Foreach::cost() const {
  int64_t sum = 0;
  for (const auto& member : members_) sum += member->cost();
  return sum;
}

}  // namespace npu::acl
