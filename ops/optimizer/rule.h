// SPDX-License-Identifier: Apache-2.0
// Update rules: how an optimiser moves a parameter and its state by a gradient, element by element. A rule is one line
// of a list and one kernel; the operators, dense and by rows, come from the line.
#pragma once

#include <span>
#include <string_view>

#include "ops/optimizer/update.h"

namespace npu::ops {

struct Rule {
  std::string_view name;     ///< of the operator
  std::string_view states;   ///< "m, v": tensors of the parameter's shape that are kept between steps; at most 3
  std::string_view numbers;  ///< "lr, rho": tensors of one element; the kernel's parameters in this order
  std::string_view flag;  ///< "use_nesterov" or "update_slots=1" (its default), the kernel's last parameter; may be ""
  /// Blocks: the parameter, the states, the gradient.
  UpdateKernel f32, f64;
};

/// The rules with kernels of the running CPU.
std::span<const Rule> update_rules();

}  // namespace npu::ops
