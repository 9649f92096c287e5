// SPDX-License-Identifier: Apache-2.0
// Which of two ways is faster, on a machine that does other things too: rounds of usual, way, usual, each long enough
// for the clock. A round gives one ratio, and how far the usual way is from itself.
#pragma once

#include <cstdint>
#include <functional>

namespace npu::ops::tuning {

struct Effort {
  int64_t rounds = 11;
  double least_us = 1500;  ///< of one timing; runs are repeated up to that
};

struct Comparison {
  double usual_us = 0, way_us = 0;      ///< medians, of one run
  double ratio = 1, low = 1, high = 1;  ///< usual by way: median and quartiles of the rounds
  double noise = 0;                     ///< distance between the quartiles of the usual way by itself
  int64_t rounds = 0;

  /// Faster by more than the noise, and by more than what is worth an exception.
  bool won() const;
};

/// Runs both, at least once each; stops early where the way is plainly the slower one. A way that wins is compared once
/// more with the roles exchanged, and what it won is the less of the two.
Comparison compare(const std::function<void()>& usual, const std::function<void()>& way, const Effort& effort);

/// For tests: time is what `microseconds` tells; null for the clock.
void use_clock(double (*microseconds)());

}  // namespace npu::ops::tuning
