// SPDX-License-Identifier: Apache-2.0
// Operators that meet other ranks. Whoever hands operators to a stream asks turns_of first.
#pragma once

#include <functional>

#include "ops/operator.h"

namespace npu::device {
class Stream;
}

namespace npu::ops {

/// What such an operator is beside an Operator.
class TakesTurns {
 public:
  /// Queues `run`, which runs the operator, on `stream`: as a task that may wait for other ranks, in its place among
  /// the calls that they make. `name` must live as long as the process. Raises where the ranks cannot be met.
  virtual void queue(device::Stream& stream, const char* name, std::function<void()> run) = 0;
  /// The same in the calling thread, which waits for the other ranks there.
  virtual void run_here(int device, const char* name, const std::function<void()>& run) = 0;

 protected:
  ~TakesTurns() = default;
};

/// Declared by operators that are TakesTurns, beside the traits of Trait: launching any other costs one look at it.
inline constexpr auto kTakesTurns = static_cast<Trait>(32);

/// Null for all operators that compute alone: those are kernels.
inline TakesTurns* turns_of(Operator& op) { return op.def->is(kTakesTurns) ? dynamic_cast<TakesTurns*>(&op) : nullptr; }

}  // namespace npu::ops
