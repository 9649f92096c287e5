// SPDX-License-Identifier: Apache-2.0
// Which of two ways computes a product or a convolution: the house's own kernels (panels.h) or oneDNN's. Nothing is
// timed while programs run: the answer stands in a table by class of CPU and class of shape, which
// tests/bench/choose.py measures and writes. A class of CPU that was not measured takes the rows of the one that is
// nearest by its instructions.
#pragma once

#include <cstdint>
#include <span>

#include "ops/cube/choice_row.h"

namespace npu::ops::cube {

/// What the table tells apart.
struct ShapeClass {
  Work work;
  DType dtype;      ///< float32 or bfloat16; any other has no own kernels
  bool variant;     ///< of a convolution: a stride above 1; of a product: the right operand is stored by columns
  int64_t weights;  ///< numbers of the weights, or of the right operand
  int64_t rows;     ///< output pixels of all images, or rows of the left operand
};

/// True where the own kernels are the faster ones.
bool takes_own(const ShapeClass& shape);

/// The rows in force on this CPU; none where oneDNN computes everything.
std::span<const Choices> choices();

/// While it lives, what this thread plans goes one way, as far as that way is there: for benches.
class ForcedWay {
 public:
  explicit ForcedWay(bool own);
  ForcedWay(const ForcedWay&) = delete;
  ForcedWay& operator=(const ForcedWay&) = delete;
  ~ForcedWay();
};

}  // namespace npu::ops::cube
