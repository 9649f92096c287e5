// SPDX-License-Identifier: Apache-2.0
// The device's time by module, as a tree and as rows.
#pragma once

#include "tools/profile/report/fact/owner.h"
#include "tools/profile/report/fact/total.h"

namespace npu::profile {

/// A word of the tree: of a module, of what is done for it ("forward", "gradient"), of a type of operators.
struct Frame {
  std::string name;
  Total total;                ///< with all that is inside
  std::vector<Frame> inside;  ///< the largest first; where all are called by numbers, by these
};

/// What a module asks for itself, without the modules that it calls.
struct ModuleTime {
  std::string name;
  Total forward, gradient;
  int64_t time() const { return forward.time + gradient.time; }
};

struct Modules {
  Frame all;
  std::vector<ModuleTime> rows;      ///< the largest first
  int64_t outside = 0, unknown = 0;  ///< of the time of `all`
  bool known = false;                ///< whether anything is of a module
};

Modules modules_of(const Trace& trace, const Owners& owners, const std::vector<TaskRecord>& tasks);

/// A task, and how much of something is due to it.
struct Weighted {
  Owner owner;
  int64_t weight = 0;
};
/// "mostly in model.layers.3 (62 %)": the innermost module with at least half of all; "" where there is none.
std::string mostly_in(const Owners& owners, const std::vector<Weighted>& weights);

}  // namespace npu::profile
