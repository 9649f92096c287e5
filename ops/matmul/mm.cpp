// SPDX-License-Identifier: Apache-2.0
#include "ops/matmul/blocked.h"
#include "ops/matmul/product.h"
#include "ops/operator.h"

namespace npu::ops {
namespace {

/// out = self @ mat2, two matrices.
struct Mm final : Operator {
  Tensor self, mat2, out;
  PlainWeight weight;
  Product product;

  void prepare() override {
    require(self.rank() == 2 && mat2.rank() == 2, "self is {}, mat2 is {}: both must be matrices (2 dimensions)",
            self.shape, mat2.shape);
    weight.plan(mat2, "mat2");
    product.accept_blocks();
    require(self.shape[1] == mat2.shape[0], "self is {}, mat2 is {}: inner sizes differ ({} and {})", self.shape,
            mat2.shape, self.shape[1], mat2.shape[0]);
    require_shape(out, {self.shape[0], mat2.shape[1]});
    product.plan(self, mat2, {}, out);
  }
  void run() override {
    Scratch<std::byte> room;
    product.run(self, weight.of(mat2, room, product.reads_blocks()), {}, out);
  }
  int64_t cost() const override { return product.cost(); }
};

NPU_OPERATOR(Mm, "mm", "matmul", in<&Mm::self>("self"), in<&Mm::mat2>("mat2"), out<&Mm::out>("out"));

}  // namespace
}  // namespace npu::ops
