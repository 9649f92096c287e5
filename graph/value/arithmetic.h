// SPDX-License-Identifier: Apache-2.0
// What gradients ask of values of any kind, lists and optionals of them included.
#pragma once

#include "graph/value/value.h"

namespace npu::graph {

/// Zeros in the form of `value`. Raises 161002 for objects of the client's.
Value zeros_like(int device, const Value& value);
/// Raises 161002 for values of different form and for objects of the client's.
Value sum_of(int device, const Value& a, const Value& b);

}  // namespace npu::graph
