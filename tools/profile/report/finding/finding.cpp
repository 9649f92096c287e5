// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/finding/finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace npu::profile {
namespace {

constexpr double kLeastShare = 0.02;

constexpr std::optional<Finding> (*kKinds[])(const Facts&) = {
    pause_of, round_trip_of,  wait_of,      small_operators_of, late_starts_of,  copies_of,
    chain_of, compilation_of, host_node_of, input_of,           communication_of};

/// Of several devices the one that it costs most.
std::optional<Finding> worst_of(std::span<const Facts> all, std::optional<Finding> (*kind)(const Facts&)) {
  std::optional<Finding> worst;
  for (const Facts& facts : all) {
    std::optional<Finding> found = kind(facts);
    if (!found || (worst && worst->cost >= found->cost)) continue;
    worst = std::move(found);
    worst->share = facts.share(worst->cost);
    if (all.size() > 1) worst->who = facts.name;
  }
  return worst;
}

}  // namespace

std::vector<Finding> findings_of(std::span<const Facts> all) {
  std::vector<Finding> found;
  const auto keep = [&](std::optional<Finding> one) {
    if (one && one->cost > 0 && one->share >= kLeastShare) found.push_back(*std::move(one));
  };
  for (const auto kind : kKinds) keep(worst_of(all, kind));
  keep(straggler_of(all));
  std::ranges::stable_sort(found, std::greater<>(), &Finding::cost);
  return found;
}

std::string and_module(const Facts& facts, const std::vector<Weighted>& weights) {
  const std::string found = mostly_in(facts.owners, weights);
  return found.empty() ? "" : "; " + found;
}

std::string and_module(const Facts& facts, Cause cause) {
  std::vector<Weighted> weights;
  for (const Gap& gap : facts.idle.gaps)
    if (gap.parts[cause] > 0) weights.push_back({facts.owners.of(*gap.next), gap.parts[cause]});
  return and_module(facts, weights);
}

std::string milliseconds(int64_t nanoseconds) { return fmt::format("{:.3f}", static_cast<double>(nanoseconds) / 1e6); }

std::string counted(size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string commonest(const std::vector<std::string>& texts, size_t most) {
  std::map<std::string, size_t> counts;
  for (const std::string& text : texts) ++counts[text];
  std::vector<std::pair<std::string, size_t>> rows(counts.begin(), counts.end());
  std::ranges::stable_sort(rows, std::greater<>(), &std::pair<std::string, size_t>::second);
  std::string out;
  for (size_t i = 0; i < std::min(most, rows.size()); ++i)
    out += fmt::format("{}{} × {}", i == 0 ? "" : ", ", rows[i].second, rows[i].first);
  return out;
}

}  // namespace npu::profile
