// SPDX-License-Identifier: Apache-2.0
#include "ops/matmul/blocked.h"
#include "ops/operator.h"

namespace npu::ops {
namespace {

/// Gives a row-major weight the blocked layout, in its own memory.
struct BlockWeight final : Operator {
  Tensor self;

  void prepare() override {
    require(!is_blocked(self.format), "self is in ACL_FORMAT_FRACTAL_NZ already; give the plain weight");
    const int64_t elements = blocked_elements(self.shape, self.dtype);
    require(self.contiguous(), "self is {} with strides {}; a weight must be row-major", self, self.strides);
    // A blocked matrix is padded, so it may need more memory than the row-major one that lies there.
    check_room(self.bytes(), elements * static_cast<int64_t>(size_of(self.dtype)), "self, once it is blocked,");
  }
  void run() override {
    if (self.count() > 0) block(self);
  }
  int64_t cost() const override { return 500 + self.count() / 4; }
};

NPU_OPERATOR(BlockWeight, "block_weight", "matmul", inout<&BlockWeight::self>("self")).is(kMovesBits);

}  // namespace
}  // namespace npu::ops
