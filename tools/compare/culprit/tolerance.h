// SPDX-License-Identifier: Apache-2.0
// How far an operator's output may be away from the golden's, given its type, its size and what is wrong with its
// inputs: the scale of its terms times (the roundings of its own + the inputs' error as it grows in it).
#pragma once

#include <vector>

#include "tools/compare/culprit/deviation.h"

namespace npu::compare {

/// What an operator reads: how far it is off against its largest element (0 where nothing is known), and its size.
struct Reading {
  double error = 0, largest = 0, root_mean_square = 0;
  uint64_t count = 0;
};

struct Tolerance {
  double reduction = 1;  ///< terms of one output element
  double scale = 0;      ///< magnitude of what is summed
  double growth = 16;    ///< of the inputs' error
  double input_error = 0;

  /// Largest difference that a type with this epsilon explains.
  double allowed(double epsilon) const;
};

Tolerance tolerance_of(const Operator& op, const std::vector<Reading>& inputs, const Deviation& output);

/// Whether single elements may jump when an input moves a little: comparisons, maxima, roundings.
bool jumps(const Operator& op);

}  // namespace npu::compare
