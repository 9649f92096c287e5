// SPDX-License-Identifier: Apache-2.0
// What makes a run slow: what it is, what it costs, where, and what helps.
#pragma once

#include <optional>
#include <span>

#include "tools/profile/report/fact/facts.h"

namespace npu::profile {

struct Finding {
  std::string title;
  int64_t cost = 0;  ///< nanoseconds that the run would be shorter at most
  double share = 0;  ///< of the device's time
  std::string where = {}, cure = {};
  std::string who = {};  ///< of several devices the one that it is about
};

/// The costliest first; what costs less than a fiftieth of the time is none.
std::vector<Finding> findings_of(std::span<const Facts> all);

/// Each looks for one kind; those that are alike share a file. A new kind is a function, and a line of the table in
/// finding.cpp.
std::optional<Finding> pause_of(const Facts& facts);
std::optional<Finding> round_trip_of(const Facts& facts);
std::optional<Finding> wait_of(const Facts& facts);
std::optional<Finding> small_operators_of(const Facts& facts);
std::optional<Finding> late_starts_of(const Facts& facts);
std::optional<Finding> copies_of(const Facts& facts);
std::optional<Finding> chain_of(const Facts& facts);
std::optional<Finding> compilation_of(const Facts& facts);
std::optional<Finding> host_node_of(const Facts& facts);
std::optional<Finding> input_of(const Facts& facts);
std::optional<Finding> communication_of(const Facts& facts);
/// The rank that others wait for.
std::optional<Finding> straggler_of(std::span<const Facts> all);

/// "; mostly in model.layers.3 (62 %)", by what weighs most; "" where no module is known or none has half of it.
std::string and_module(const Facts& facts, const std::vector<Weighted>& weights);
/// By the idle time of a cause: for whom what ends it runs.
std::string and_module(const Facts& facts, Cause cause);
/// "12.345" of nanoseconds.
std::string milliseconds(int64_t nanoseconds);
/// "1 call", "2 calls".
std::string counted(size_t count, std::string_view noun);
/// The commonest of some texts, at most `most`, as "12 × a, 3 × b".
std::string commonest(const std::vector<std::string>& texts, size_t most);

}  // namespace npu::profile
