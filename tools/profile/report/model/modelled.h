// SPDX-License-Identifier: Apache-2.0
// The time of a run as it was here, and as chips would need: sums by type, stream and step.
#pragma once

#include <map>
#include <span>

#include "tools/profile/report/fact/facts.h"
#include "tools/profile/report/model/chip_time.h"

namespace npu::profile {

/// On one chip.
struct Cell {
  double time = 0;                         ///< microseconds
  std::array<double, kBounds> by_bound{};  ///< of it, of operators that are bound by each
  uint64_t left = 0;                       ///< operators that could not be modelled
  Bound bound() const;
};

struct Line {
  std::string name;
  uint64_t count = 0;
  int64_t measured = 0;  ///< nanoseconds, here
  double cube = 0, vector = 0, bytes = 0;
  std::vector<Cell> cells;  ///< of each chip
};

struct Modelled {
  const Facts* facts = nullptr;
  std::vector<Chip> chips;           ///< that have the numbers that are needed
  std::vector<std::string> refused;  ///< "Ascend310P3: no model: …"
  bool has_shapes = false;
  std::vector<Line> types, streams;  ///< the longest here first
  Line total, steps;                 ///< steps: what ran in one
  size_t step_count = 0;
  std::map<std::string, uint64_t> left;    ///< operators that no time could be made for, by chip and reason
  std::map<std::string, uint64_t> untold;  ///< operators of which bytes alone are known, by type
};

/// For each device; without names, the SoC that the collection was made on.
std::vector<Modelled> modelled(std::span<const Facts> all, const std::vector<std::string>& names);

}  // namespace npu::profile
