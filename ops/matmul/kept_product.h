// SPDX-License-Identifier: Apache-2.0
// Products with a right operand whose elements never change, as the weights of a model: brought once into the order
// that oneDNN's kernels read, which is as fast as the machine where parts are whole rows.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "ops/cube/gemm.h"
#include "ops/cube/onednn.h"
#include "ops/kept.h"

namespace npu::ops {

class KeptProduct {
 public:
  /// c [m, n] = a [m, k] op(b) and perhaps bias [n], float32, a and c dense, b with a leading dimension.
  struct Shape {
    int64_t m, n, k, ldb;
    bool trans_b, bias;
  };
  /// Null where oneDNN has no fast kernel, or where few rows make it a reading of b.
  static std::shared_ptr<const KeptProduct> make(const Shape& shape);

  struct Operands {
    const float* a;
    const float* b;
    const float* bias;  ///< unread where there is none
    float* c;
  };
  /// Calls after(tile) for each part of the result as soon as it is there. Bits depend on sizes only.
  void run(const Operands& operands, const std::function<void(const cube::Tile&)>& after) const;

 private:
  struct Part {
    cube::Tile tile;
    std::shared_ptr<const cube::OnednnMatmul> kernel;
  };
  bool add(int64_t begin, int64_t end);

  Shape shape_;
  std::vector<Part> parts_;
  mutable Kept right_;
};

}  // namespace npu::ops
