// SPDX-License-Identifier: Apache-2.0
// copy: `self`, a tensor or a host number, broadcast and converted into `out`. Copies between dtypes, strides and
// layouts, casts and fills are all this operator.
#include <cstring>

#include "ops/operator.h"
#include "ops/vector/elementwise.h"

namespace npu::ops {
namespace {

template <int64_t kSize>
void move_block(const void* const* in, void* out, int64_t count) {
  if (in[0] != out) std::memcpy(out, in[0], static_cast<size_t>(count * kSize));
}

BlockKernel move_kernel(size_t size) {
  switch (size) {
    case 1: return &move_block<1>;
    case 2: return &move_block<2>;
    case 4: return &move_block<4>;
    case 8: return &move_block<8>;
    default: return &move_block<16>;
  }
}

// The dtype values pass through: the common one, else whichever side is a compute dtype, else the input's.
DType slot_between(DType from, DType to) {
  if (from == to) return from;
  if (slot_of(to) == to && converter(from, to) != nullptr) return to;
  return slot_of(from);
}

struct Copy final : Operator {
  Operand self;
  Tensor out;
  Elementwise loop;

  void prepare() override {
    DType slot = self.is_scalar() ? slot_of(out.dtype) : slot_between(self.tensor.dtype, out.dtype);
    if (self.is_scalar() && is_complex(self.dtype())) slot = DType::kComplex128;
    require(slot != DType::kUndefined, "no kernel copies {} to {}", self.dtype(), out.dtype);
    loop.set_output(out, slot);
    loop.add_input(self, slot);
    loop.plan(move_kernel(size_of(slot)));
  }
  void run() override { loop.run(); }
  int64_t cost() const override { return loop.cost(); }
};

NPU_OPERATOR(Copy, "copy", "shape", in<&Copy::self>("self"), out<&Copy::out>("out"));

}  // namespace
}  // namespace npu::ops
