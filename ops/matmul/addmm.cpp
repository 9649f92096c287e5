// SPDX-License-Identifier: Apache-2.0
#include "ops/matmul/blocked.h"
#include "ops/matmul/product.h"
#include "ops/operator.h"

namespace npu::ops {
namespace {

void require_inner(const char* left_name, const Tensor& left, const char* right_name, const Tensor& right) {
  const int64_t a = left.shape.back(), b = right.shape[right.rank() - 2];
  require(a == b, "{} is {}, {} is {}: inner sizes differ ({} and {})", left_name, left.shape, right_name, right.shape,
          a, b);
}

/// out = beta * self + alpha * (mat1 @ mat2); self broadcasts and may be absent; beta == 0 leaves it unread.
struct Addmm final : Operator {
  Tensor self, mat1, mat2, out;
  Scalar beta = 1, alpha = 1;
  PlainWeight weight;
  Product product;

  void prepare() override {
    require(mat1.rank() == 2 && mat2.rank() == 2, "mat1 is {}, mat2 is {}: both must be matrices (2 dimensions)",
            mat1.shape, mat2.shape);
    weight.plan(mat2, "mat2");
    product.accept_blocks();
    require_inner("mat1", mat1, "mat2", mat2);
    const Dims shape{mat1.shape[0], mat2.shape[1]};
    require_shape(out, shape);
    product.plan(mat1, mat2, addend(self, shape), out, alpha, beta);
  }
  void run() override {
    Scratch<std::byte> room;
    product.run(mat1, weight.of(mat2, room, product.reads_blocks()), self, out);
  }
  // Nothing of the tensors but their addresses is used after prepare, and those are taken with each run.
  void moved() override {}
  int64_t cost() const override { return product.cost(); }
};

/// out = alpha * op(mat1) @ op(mat2) + beta * self; op transposes where the number is not 0. self broadcasts.
struct Gemm final : Operator {
  Tensor self, mat1, mat2, out;
  Scalar beta = 1, alpha = 1;
  int64_t transpose1 = 0, transpose2 = 0;
  Tensor left, right;
  Product product;

  void prepare() override {
    left = turned(mat1, transpose1, "A");
    right = turned(mat2, transpose2, "B");
    require_inner("A", left, "B", right);
    const Dims shape{left.shape[0], right.shape[1]};
    require_shape(out, shape);
    product.plan(left, right, addend(self, shape), out, alpha, beta);
  }
  void run() override { product.run(left, right, self, out); }
  int64_t cost() const override { return product.cost(); }

 private:
  static Tensor turned(Tensor matrix, int64_t turn, const char* name) {
    require(matrix.rank() == 2, "{} is {}; it is a matrix", name, matrix);
    if (turn == 0) return matrix;
    std::swap(matrix.shape[0], matrix.shape[1]);
    std::swap(matrix.strides[0], matrix.strides[1]);
    return matrix;
  }
};

void require_batches(const Tensor& batch1, const Tensor& batch2) {
  require(batch1.rank() == 3 && batch2.rank() == 3,
          "batch1 is {}, batch2 is {}: both must have 3 dimensions (batch, rows, columns)", batch1.shape, batch2.shape);
  require(batch1.shape[0] == batch2.shape[0], "batch1 is {}, batch2 is {}: batch sizes differ ({} and {})",
          batch1.shape, batch2.shape, batch1.shape[0], batch2.shape[0]);
  require_inner("batch1", batch1, "batch2", batch2);
}

/// out[i] = beta * self[i] + alpha * (batch1[i] @ batch2[i]).
struct Baddbmm final : Operator {
  Tensor self, batch1, batch2, out;
  Scalar beta = 1, alpha = 1;
  Product product;

  void prepare() override {
    require_batches(batch1, batch2);
    const Dims shape{batch1.shape[0], batch1.shape[1], batch2.shape[2]};
    require_shape(out, shape);
    product.plan(batch1, batch2, addend(self, shape), out, alpha, beta);
  }
  void run() override { product.run(batch1, batch2, self, out); }
  int64_t cost() const override { return product.cost(); }
};

NPU_OPERATOR(Addmm, "addmm", "matmul", optional<&Addmm::self>("self"), in<&Addmm::mat1>("mat1"),
             in<&Addmm::mat2>("mat2"), attr<&Addmm::beta>("beta"), attr<&Addmm::alpha>("alpha"),
             out<&Addmm::out>("out"));
NPU_OPERATOR(Gemm, "gemm", "matmul", in<&Gemm::self>("self"), in<&Gemm::mat1>("mat1"), in<&Gemm::mat2>("mat2"),
             attr<&Gemm::beta>("beta"), attr<&Gemm::alpha>("alpha"), attr<&Gemm::transpose1>("transpose1"),
             attr<&Gemm::transpose2>("transpose2"), out<&Gemm::out>("out"));
NPU_OPERATOR(Baddbmm, "baddbmm", "matmul", in<&Baddbmm::self>("self"), in<&Baddbmm::batch1>("batch1"),
             in<&Baddbmm::batch2>("batch2"), attr<&Baddbmm::beta>("beta"), attr<&Baddbmm::alpha>("alpha"),
             out<&Baddbmm::out>("out"));

}  // namespace
}  // namespace npu::ops
