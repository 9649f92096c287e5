// SPDX-License-Identifier: Apache-2.0
// How far two tensors are apart.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tools/compare/metric/metric.h"
#include "tools/compare/side/run.h"

namespace npu::compare {

struct Deviation {
  bool known = false;  ///< both tensors were read
  std::string reason;  ///< why not, where there is something to tell
  uint64_t count = 0;
  Shape shape;
  bool identical = false;       ///< in every bit
  double absolute = 0;          ///< largest difference of finite elements
  double largest = 0;           ///< magnitude in the golden
  double root_mean_square = 0;  ///< of the golden
  uint64_t worst = 0;           ///< the element of the largest difference
  float mine = 0, golden = 0;   ///< that element
  uint64_t not_finite_mine = 0, not_finite_golden = 0;
  uint64_t not_finite_apart = 0;                ///< not finite in one side alone, or otherwise than in the other
  double ulp = 0;                               ///< of the worst element, in steps of the coarser type
  double epsilon_mine = 0, epsilon_golden = 0;  ///< of the types; 0: whole numbers

  bool exact() const { return epsilon_mine == 0 || epsilon_golden == 0; }
  /// Against the largest magnitude; infinite where only one side is finite.
  double relative() const;
};

/// Never raises: what cannot be compared is not known, with a reason.
Deviation deviation(const Port& mine, const Port& golden);

/// Elements that are further apart than `allowed`.
uint64_t count_apart(const Port& mine, const Port& golden, double allowed);

/// The ten metrics by name.
std::vector<std::pair<std::string, std::string>> metrics_of(const Port& mine, const Port& golden);

/// Calls `visit(mine, golden, place)` for each element.
using Visit = std::function<void(float, float, uint64_t)>;
void each_pair(const Port& mine, const Port& golden, const Visit& visit);

/// "[1, 0, 7]"
std::string place_text(uint64_t at, const Shape& shape);
/// The distance of 1 and the next number of a type; 0 for whole numbers.
double epsilon_of(int32_t type);

}  // namespace npu::compare
