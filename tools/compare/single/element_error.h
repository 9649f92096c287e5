// SPDX-License-Identifier: Apache-2.0
// How far single elements are from the golden's, in the precision in which NumPy would compute it.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/compare/tensor/view.h"

namespace npu::compare {

struct ElementError {
  double mine = 0, golden = 0;
  double absolute = 0, relative = 0;  ///< no number where both are truth values; relative to the golden's magnitude
};

class ElementErrors {
 public:
  ElementErrors(const View& mine, const View& golden);

  uint64_t count() const { return mine_.count; }
  /// Both sides are truth values, which have no distance.
  bool boolean() const { return precision_ == Precision::kNone; }
  /// Elements [first, first + n).
  std::vector<ElementError> at(uint64_t first, size_t n) const;

 private:
  enum class Precision { kNone, kHalf, kFloat, kDouble };
  static Precision precision_of(const DataType& mine, const DataType& golden);
  void measure(ElementError& element) const;

  const View& mine_;
  const View& golden_;
  Precision precision_;
};

}  // namespace npu::compare
