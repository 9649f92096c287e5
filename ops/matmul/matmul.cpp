// SPDX-License-Identifier: Apache-2.0
#include <span>

#include "ops/matmul/blocked.h"
#include "ops/matmul/product.h"
#include "ops/operator.h"
#include "ops/vector/chain/chain_after.h"

namespace npu::ops {
namespace {

Dims batch_of(const Tensor& t) { return Dims(std::span(t.shape.data(), t.rank() - 2)); }

Tensor with_axis(const Tensor& t, size_t at) {
  // The stride of an axis of size 1 is never walked; 1 keeps the memory's unit stride visible to the planner.
  Tensor out = t;
  out.shape.insert(at, 1);
  out.strides.insert(at, 1);
  return out;
}

Tensor with_batch(const Tensor& t, Dims batch) {
  batch.push_back(t.shape[t.rank() - 2]);
  batch.push_back(t.shape[t.rank() - 1]);
  return t.expanded(batch);
}

/// out = self @ mat2 by NumPy's rules: a vector on the left is a row, on the right a column, and its axis is left out
/// of the result; leading axes broadcast. A chain may follow, over a row-major `out`.
struct Matmul final : ChainAfter {
  Tensor self, mat2, out;
  bool kept_mat2 = false;  ///< elements of mat2 never change
  PlainWeight weight;
  Product product;

  void prepare() override {
    if (kept_mat2) product.keep_right();
    require(self.rank() >= 1 && mat2.rank() >= 1, "self is {}, mat2 is {}: both need at least one dimension",
            self.shape, mat2.shape);
    weight.plan(mat2, "mat2");
    product.accept_blocks();
    const Tensor a = self.rank() == 1 ? with_axis(self, 0) : self;
    const Tensor b = mat2.rank() == 1 ? with_axis(mat2, 1) : mat2;
    const int64_t k = a.shape.back();
    require(k == b.shape[b.rank() - 2], "self is {}, mat2 is {}: inner sizes differ ({} and {})", self.shape,
            mat2.shape, k, b.shape[b.rank() - 2]);
    const Dims batch = broadcast(batch_of(a), batch_of(b));
    Dims shape = batch;
    if (self.rank() > 1) shape.push_back(a.shape[a.rank() - 2]);
    if (mat2.rank() > 1) shape.push_back(b.shape.back());
    require_shape(out, shape);
    Tensor result = mat2.rank() == 1 ? with_axis(out, out.rank()) : out;
    if (self.rank() == 1) result = with_axis(result, result.rank() - 1);
    product.plan(with_batch(a, batch), with_batch(b, batch), {}, result);
    // Tiles are handed to the chain as ranges of the row-major order.
    require(chain == nullptr || out.contiguous(), "out is {}: a chain follows row-major results only", out);
    prepare_chain();
  }
  void run() override {
    Scratch<std::byte> room;
    product.run(self, weight.of(mat2, room, product.reads_blocks()), {}, out, after());
  }
  void moved() override { move_chain(); }
  int64_t cost() const override { return product.cost() + chain_cost(); }
};

/// out = self @ mat2, one product per leading index.
struct BatchMatmul final : Operator {
  Tensor self, mat2, out;
  PlainWeight weight;
  Product product;

  void prepare() override {
    require(self.rank() == 3 && mat2.rank() == 3,
            "self is {}, mat2 is {}: both must have 3 dimensions (batch, rows, columns)", self.shape, mat2.shape);
    weight.plan(mat2, "mat2");
    product.accept_blocks();
    require(self.shape[2] == mat2.shape[1], "self is {}, mat2 is {}: inner sizes differ ({} and {})", self.shape,
            mat2.shape, self.shape[2], mat2.shape[1]);
    // The vendor's interface also lets a batch of 1 repeat.
    const Dims batch = broadcast(batch_of(self), batch_of(mat2));
    require_shape(out, {batch[0], self.shape[1], mat2.shape[2]});
    product.plan(with_batch(self, batch), with_batch(mat2, batch), {}, out);
  }
  void run() override {
    Scratch<std::byte> room;
    product.run(self, weight.of(mat2, room, product.reads_blocks()), {}, out);
  }
  void moved() override {}
  int64_t cost() const override { return product.cost(); }
};

const Registration register_matmul("matmul", "matmul",
                                   with_chain<Matmul>({in<&Matmul::self>("self"), in<&Matmul::mat2>("mat2"),
                                                       attr<&Matmul::kept_mat2>("kept_mat2"),
                                                       out<&Matmul::out>("out")}),
                                   &make<Matmul>);
NPU_OPERATOR(BatchMatmul, "batch_matmul", "matmul", in<&BatchMatmul::self>("self"), in<&BatchMatmul::mat2>("mat2"),
             out<&BatchMatmul::out>("out"));

}  // namespace
}  // namespace npu::ops
