// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "ops/matmul/product.h"
#include "ops/operator.h"
#include "ops/scratch.h"
#include "ops/vector/conversion/convert.h"

namespace npu::ops {
namespace {

/// out = beta * self + alpha * sum over i of (batch1[i] @ batch2[i]). One product with the batch laid along k, so the
/// sum is rounded to the output's dtype once.
struct Addbmm final : Operator {
  Tensor self, batch1, batch2, out;
  Scalar beta = 1, alpha = 1;
  Product product;

  void prepare() override;
  void run() override;
  int64_t cost() const override { return product.cost(); }

 private:
  Tensor left_, right_;  ///< dense copies of the batches: rows x (batch * inner) and (batch * inner) x columns
};

// Copies `from` (3 axes) into dense memory of the same dtype, axes in the order first, second, third.
// The batch becomes a part of k, and a product walks k with one stride: even dense batches have to be laid anew.
void lay_down(const Tensor& from, size_t first, size_t second, size_t third, std::byte* to) {
  const Convert copy = converter(from.dtype, from.dtype);
  const auto element = static_cast<int64_t>(size_of(from.dtype));
  for (int64_t i = 0; i < from.shape[first]; ++i) {
    for (int64_t j = 0; j < from.shape[second]; ++j, to += from.shape[third] * element) {
      const int64_t offset = i * from.strides[first] + j * from.strides[second];
      copy(from.bytes() + offset * element, from.strides[third], to, 1, from.shape[third]);
    }
  }
}

void Addbmm::prepare() {
  require(batch1.rank() == 3 && batch2.rank() == 3,
          "batch1 is {}, batch2 is {}: both must have 3 dimensions (batch, rows, columns)", batch1.shape, batch2.shape);
  require(batch1.shape[0] == batch2.shape[0], "batch1 is {}, batch2 is {}: batch sizes differ ({} and {})",
          batch1.shape, batch2.shape, batch1.shape[0], batch2.shape[0]);
  require(batch1.shape[2] == batch2.shape[1], "batch1 is {}, batch2 is {}: inner sizes differ ({} and {})",
          batch1.shape, batch2.shape, batch1.shape[2], batch2.shape[1]);
  const Dims shape{batch1.shape[1], batch2.shape[2]};
  const int64_t depth = batch1.shape[0] * batch1.shape[2];
  require_shape(out, shape);
  left_ = make_tensor(nullptr, batch1.dtype, {shape[0], depth});
  right_ = make_tensor(nullptr, batch2.dtype, {depth, shape[1]});
  product.plan(left_, right_, addend(self, shape), out, alpha, beta);
}

// With each run, as the operands may have moved or changed since the last.
void Addbmm::run() {
  const Scratch<std::byte> left(bytes_of(left_));
  const Scratch<std::byte> right(bytes_of(right_));
  lay_down(batch1, 1, 0, 2, left);
  lay_down(batch2, 0, 1, 2, right);
  Tensor a = left_, b = right_;
  a.data = left.data(), b.data = right.data();
  product.run(a, b, self, out);
}

NPU_OPERATOR(Addbmm, "addbmm", "matmul", in<&Addbmm::self>("self"), in<&Addbmm::batch1>("batch1"),
             in<&Addbmm::batch2>("batch2"), attr<&Addbmm::beta>("beta"), attr<&Addbmm::alpha>("alpha"),
             out<&Addbmm::out>("out"));

}  // namespace
}  // namespace npu::ops
