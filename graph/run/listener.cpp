// SPDX-License-Identifier: Apache-2.0
#include "graph/run/listener.h"

#include <algorithm>

namespace npu::graph {

void Listeners::met(const Function& function, Role role) {
  for (const auto& one : all_) one->met(function, role);
}

bool Listeners::wants_stages() const {
  return std::any_of(all_.begin(), all_.end(), [](const auto& one) { return one->wants_stages(); });
}

void Listeners::staged(std::string_view stage, const Function& function, const Program& program, Role role) {
  for (const auto& one : all_) one->staged(stage, function, program, role);
}

void Listeners::rewritten(const std::string& function, const std::vector<PassReport>& passes) {
  for (const auto& one : all_) one->rewritten(function, passes);
}

void Listeners::looked_up(const std::string& function, const cache::Lookup& lookup) {
  for (const auto& one : all_) one->looked_up(function, lookup);
}

void Listeners::planned(const PlanMade& made) {
  for (const auto& one : all_) one->planned(made);
}

void Listeners::unfused(const std::string& function, const Node& node, const std::string& reason) {
  for (const auto& one : all_) one->unfused(function, node, reason);
}

void Listeners::ran_on_host(const std::string& function, const Node& node, std::string_view reason,
                            std::span<const Value> in, std::span<const Value> out) {
  for (const auto& one : all_) one->ran_on_host(function, node, reason, in, out);
}

void Listeners::overlapped(const std::string& function, const Overlap& overlap) {
  for (const auto& one : all_) one->overlapped(function, overlap);
}

}  // namespace npu::graph
