// SPDX-License-Identifier: Apache-2.0
// A product of which each rank has a part of the sum (tensor parallelism): what stands between it and the other ranks.
#pragma once

#include "comm/operator/rank_operator.h"

namespace npu::comm {

/// out = the sum over ranks of what each of them multiplies.
class SummedOperator : public RankOperator {
 public:
  Tensor x1, x2, bias, x3, out;

  void run() override;

 protected:
  /// This rank's part, into a dense tensor of out's shape and type.
  virtual void multiply(const Tensor& part) = 0;
};

}  // namespace npu::comm
