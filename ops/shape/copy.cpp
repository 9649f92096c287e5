// SPDX-License-Identifier: Apache-2.0
// copy: `self`, a tensor or a host number, broadcast and converted into `out`. Copies between dtypes, strides and
// layouts, casts and fills are all this operator.
#include "ops/operator.h"
#include "ops/vector/elementwise/move.h"

namespace npu::ops {
namespace {

struct Copy final : Operator {
  Operand self;
  Tensor out;
  Move move;

  void prepare() override { move.plan(self, out); }
  void moved() override { move.moved(self, out); }
  void run() override { move.run(); }
  int64_t cost() const override { return move.cost(); }
};

NPU_OPERATOR(Copy, "copy", "shape", in<&Copy::self>("self"), out<&Copy::out>("out")).is(kMovesBits | kCasts);

}  // namespace
}  // namespace npu::ops
