// SPDX-License-Identifier: Apache-2.0
// When the host was in a call of the device's, all its threads together.
#pragma once

#include <array>

#include "tools/profile/report/fact/purpose.h"
#include "tools/profile/trace/interval.h"

namespace npu::profile {

/// Those of `all` inside of `part`, cut at its ends.
Intervals inside(const Intervals& all, Interval part);
int64_t length(const Intervals& all);

class Host {
 public:
  Host() = default;
  explicit Host(const Trace& trace);

  const Intervals& calls() const { return calls_; }
  const Intervals& calls(Purpose purpose) const { return by_purpose_[static_cast<size_t>(purpose)]; }
  /// Who calls nothing for so long does something else than queue the next operator: by what is usual between calls.
  int64_t pause() const { return pause_; }

 private:
  Intervals calls_;
  std::array<Intervals, 5> by_purpose_;
  int64_t pause_ = 0;
};

}  // namespace npu::profile
