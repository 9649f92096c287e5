// SPDX-License-Identifier: Apache-2.0
// When the host was in a call of the device's, and what it did for graphs there; all its threads together.
#pragma once

#include <array>

#include "tools/profile/report/fact/purpose.h"
#include "tools/profile/trace/interval.h"

namespace npu::profile {

/// Those of `all` inside of `part`, cut at its ends.
Intervals inside(const Intervals& all, Interval part);
int64_t length(const Intervals& all);

/// Whether a node is of a data set, its iterator, or the optional that this answers with.
bool brings_data(const Trace& trace, const GraphRecord& work);

class Host {
 public:
  Host() = default;
  explicit Host(const Trace& trace);

  const Intervals& calls() const { return calls_; }
  const Intervals& calls(Purpose purpose) const { return by_purpose_[static_cast<size_t>(purpose)]; }
  /// When functions were compiled, and when the client computed nodes of graphs: all but those that wait for data.
  const Intervals& compiling() const { return compiling_; }
  const Intervals& nodes() const { return nodes_; }
  /// When graphs waited for the next element of a data set.
  const Intervals& input() const { return input_; }
  /// Who calls nothing for so long does something else than queue the next operator: by what is usual between calls.
  int64_t pause() const { return pause_; }

 private:
  Intervals calls_, compiling_, nodes_, input_;
  std::array<Intervals, 5> by_purpose_;
  int64_t pause_ = 0;
};

}  // namespace npu::profile
