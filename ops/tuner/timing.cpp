// SPDX-License-Identifier: Apache-2.0
#include "ops/tuner/timing.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

namespace npu::ops::tuning {
namespace {

constexpr double kWorthwhile = 0.03;  // what a way has to win at least
constexpr int64_t kHopeless = 4;      // rounds after which a slower way is given up
constexpr int64_t kMostRuns = 10'000;

double steady() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
double (*now)() = steady;

double microseconds(const std::function<void()>& run, int64_t times) {
  const double start = now();
  for (int64_t i = 0; i < times; ++i) run();
  return (now() - start) / static_cast<double>(times);
}

/// Of sorted or unsorted values, between neighbours.
double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  const double at = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (values[above] - values[below]) * (at - static_cast<double>(below));
}

int64_t runs_for(double one_us, double least_us) {
  return std::clamp(static_cast<int64_t>(std::ceil(least_us / std::max(one_us, 0.01))), int64_t{1}, kMostRuns);
}

/// All rounds, or until the way has been the slower one for long enough if `gives_up`.
Comparison rounds_of(const std::function<void()>& usual, const std::function<void()>& way, const Effort& effort,
                     bool gives_up) {
  // The first runs find cold caches and compile kernels.
  way(), usual();
  const int64_t runs = runs_for(microseconds(usual, 1), effort.least_us);
  std::vector<double> usuals, ways, ratios, itself;
  for (int64_t round = 0; round < effort.rounds; ++round) {
    const double before = microseconds(usual, runs), taken = microseconds(way, runs), after = microseconds(usual, runs);
    usuals.push_back((before + after) / 2), ways.push_back(taken);
    ratios.push_back(usuals.back() / taken), itself.push_back(before / after);
    if (gives_up && round + 1 >= kHopeless && quantile(ratios, 0.5) < 1) break;
  }
  return {.usual_us = quantile(usuals, 0.5),
          .way_us = quantile(ways, 0.5),
          .ratio = quantile(ratios, 0.5),
          .low = quantile(ratios, 0.25),
          .high = quantile(ratios, 0.75),
          .noise = quantile(itself, 0.75) - quantile(itself, 0.25),
          .rounds = static_cast<int64_t>(ratios.size())};
}

}  // namespace

bool Comparison::won() const { return low > 1 + std::max(noise, kWorthwhile); }

void use_clock(double (*microseconds)()) { now = microseconds == nullptr ? steady : microseconds; }

Comparison compare(const std::function<void()>& usual, const std::function<void()>& way, const Effort& effort) {
  Comparison c = rounds_of(usual, way, effort, true);
  if (!c.won()) return c;
  const Comparison back = rounds_of(way, usual, effort, false);
  c.ratio = std::min(c.ratio, 1 / back.ratio);
  c.low = std::min(c.low, 1 / back.high), c.high = std::max(c.high, 1 / back.low);
  c.noise = std::max(c.noise, back.noise);
  c.rounds += back.rounds;
  return c;
}

}  // namespace npu::ops::tuning
