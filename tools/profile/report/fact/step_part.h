// SPDX-License-Identifier: Apache-2.0
// What a device did in each step of training, and what the longest one did more than the others.
#pragma once

#include "tools/profile/report/fact/idle.h"
#include "tools/profile/trace/step.h"

namespace npu::profile {

/// Nanoseconds. A step lasts from the end of the one before it, so that what the device waits for is in it; the first
/// one from its first operator.
struct StepPart {
  uint64_t number = 0;
  Interval when;
  int64_t computing = 0;
  int64_t communication = 0;  ///< while nothing was computed
  int64_t copies = 0;         ///< alone
  int64_t idle = 0;
  int64_t length() const { return when.end - when.start; }
};

/// `steps` of one device in the order of their ends.
std::vector<StepPart> step_parts_of(const std::vector<Step>& steps, const Overlap& overlap, const Idle& idle);
/// The one in the middle, and the longest; of at least one.
const StepPart& median_of(const std::vector<StepPart>& parts);
const StepPart& slowest_of(const std::vector<StepPart>& parts);

/// Something that took longer in one step than in another.
struct More {
  std::string what;
  int64_t time = 0;
};
/// Types of operators, copies and causes of idle time; the largest first, without what did not take longer.
std::vector<More> more_in(const Trace& trace, const std::vector<TaskRecord>& tasks, const Idle& idle, Interval slow,
                          Interval usual);

}  // namespace npu::profile
