// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "tools/profile/report/model/work.h"

namespace npu::profile {
namespace {

using Pair = std::array<double, 2>;

Pair last_two(const Listed& tensor) {
  if (tensor.rank() == 1) return {tensor.last(1), 1};
  return {tensor.last(2), tensor.last(1)};
}

/// The size that a and b share and that their product, which has the other two, lacks.
std::optional<double> shared_size(const Pair& a, const Pair& b, const Pair& product) {
  for (size_t i = 0; i < 2; ++i)
    for (size_t j = 0; j < 2; ++j) {
      const double left = a[1 - i], right = b[1 - j];
      const bool fits = (left == product[0] && right == product[1]) || (left == product[1] && right == product[0]);
      if (a[i] == b[j] && fits) return a[i];
    }
  return {};
}

}  // namespace

std::optional<double> product_operations(const Tensors& inputs, const Tensors& outputs) {
  if (outputs.empty()) return {};
  // A bias or what is added stands before or after the two, and never fits another size.
  for (size_t i = 0; i < inputs.size(); ++i)
    for (size_t j = i + 1; j < inputs.size(); ++j)
      if (const auto size = shared_size(last_two(inputs[i]), last_two(inputs[j]), last_two(outputs[0])))
        return 2 * outputs[0].count() * *size;
  return {};
}

}  // namespace npu::profile
