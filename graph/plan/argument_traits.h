// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/tensor.h"
#include "graph/ir/attribute.h"
#include "graph/value/value.h"

namespace npu::graph {

/// An argument as plans see it.
struct ArgumentTraits {
  ValueType type;
  Tensor tensor;                           ///< shape and dtype of a tensor, or of a variable's value; no address
  std::shared_ptr<const Literal> literal;  ///< the elements, when plans are made for them
  std::shared_ptr<Object> object;
  bool too_long = false;  ///< plans cannot be made for its elements
};

}  // namespace npu::graph
