// SPDX-License-Identifier: Apache-2.0
// Which task made the first infinity or NaN: one whose results are not finite though what it was given is. What follows
// of it is not told, nor what was asked for: a number of the call that is infinite (a mask filled with -inf) counts as
// an input. Infinities that become NaN (softmax of a row that is all masked) are told.
//
// Collectives are not told: what they bring, another rank has made. A device that saturates makes neither infinities
// nor NaN; its overflows are told by device/context/overflow.h.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/dims.h"
#include "base/dtype.h"
#include "device/context/overflow.h"

namespace npu::graph {

/// A result that is not finite, of a task that was given better.
struct NonFinite : device::TaskName {
  std::vector<std::string> origins;  ///< the client's nodes that a fused one stands for
  int device = 0;
  std::string graph;   ///< that the task is a node of, "" outside of graphs
  int64_t step = 0;    ///< of that graph
  std::string output;  ///< which result of it; "" of a graph's node
  DType dtype = DType::kUndefined;
  Dims shape;
  int64_t infinities = 0, nans = 0;
  bool of_infinities = false;  ///< there were infinities among the inputs, of which it made a NaN
};

/// From now on `watch` is called for each of them, on the thread that ran the task; it must not run tasks. Another one
/// takes its place, an empty function ends it.
void watch_nonfinite(std::function<void(const NonFinite&)> watch);
/// "aclnnLog made 1 infinity of finite inputs: output out float32[8]": one line.
std::string to_string(const NonFinite& found);

}  // namespace npu::graph
