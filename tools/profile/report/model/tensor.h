// SPDX-License-Identifier: Apache-2.0
// What a record says of an operator's tensors: "2,3;4|FLOAT;INT64|ND;ND".
#pragma once

#include <string_view>
#include <vector>

namespace npu::profile {

/// Sizes are doubles: products of recorded ones may be larger than any integer.
struct Listed {
  std::vector<double> shape;
  std::string_view type;  ///< in the text that was read

  size_t rank() const { return shape.size(); }
  /// From the end: 1 is the last.
  double last(size_t place) const { return place > rank() ? 1 : shape[rank() - place]; }
  double count() const;
};

std::vector<Listed> listed(std::string_view described);
/// Of an element; 0 for a type that is not known.
double width_of(std::string_view type);

}  // namespace npu::profile
