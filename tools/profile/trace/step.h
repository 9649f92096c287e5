// SPDX-License-Identifier: Apache-2.0
// Steps of training, as the vendor's iteration trace has them: where the client marked them (aclprofGetStepTimestamp),
// else from one step of the first optimizer to the next where modules were noted down (anynpu profile), else the runs
// of the graph that takes most of the time. Other clients that run operators one by one have none.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/profile/trace/folder.h"
#include "tools/profile/trace/interval.h"

namespace npu::profile {

struct Step {
  int device = 0;
  uint64_t number = 0;        ///< from 1
  int64_t forward = 0;        ///< its first operator begins, or the one named by fp_point
  int64_t backward = 0;       ///< the last operator before parameters change has ended, or the one named by bp_point
  int64_t end = 0;            ///< the last operator has ended
  Intervals reductions = {};  ///< collectives
};

/// By device and time.
std::vector<Step> steps_of(const Trace& trace);

}  // namespace npu::profile
