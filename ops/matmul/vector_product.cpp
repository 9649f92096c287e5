// SPDX-License-Identifier: Apache-2.0
// Products with vectors. Each is a Product whose vectors are seen as matrices of one row or one column.
#include "ops/matmul/product.h"
#include "ops/runner/delegate.h"

namespace npu::ops {
namespace {

// The stride of an axis of size 1 is never used; 1 keeps the memory's unit stride visible.
Tensor as_row(const Tensor& t) { return t.view({1, t.shape[0]}, {t.shape[0] * t.strides[0], t.strides[0]}); }
// Beside numbers a truth value counts as 0 or 1, which is how it is stored.
Tensor as_number(Tensor t) {
  if (t.dtype == DType::kBool) t.dtype = DType::kUInt8;
  return t;
}
Tensor as_column(const Tensor& t) { return t.view({t.shape[0], 1}, {t.strides[0], 1}); }

void require_matrix_vector(const char* matrix_name, const Tensor& matrix, const Tensor& vec) {
  require(matrix.rank() == 2 && vec.rank() == 1, "{} is {}, vec is {}: a matrix and a vector are needed", matrix_name,
          matrix.shape, vec.shape);
  require(matrix.shape[1] == vec.shape[0], "{} is {}, vec is {}: inner sizes differ ({} and {})", matrix_name,
          matrix.shape, vec.shape, matrix.shape[1], vec.shape[0]);
}

/// out = self @ vec.
struct Mv final : Operator {
  Tensor self, vec, out;
  Product product;

  void prepare() override {
    require_matrix_vector("self", self, vec);
    require_shape(out, {self.shape[0]});
    product.plan(self, as_column(vec), {}, as_column(out));
  }
  void run() override { product.run(self, vec, {}, out); }
  int64_t cost() const override { return product.cost(); }
};

/// out = beta * self + alpha * (mat @ vec); self broadcasts.
struct Addmv final : Operator {
  Tensor self, mat, vec, out;
  Scalar beta = 1, alpha = 1;
  Product product;

  void prepare() override {
    require_matrix_vector("mat", mat, vec);
    require_shape(out, {mat.shape[0]});
    product.plan(mat, as_column(vec), as_column(addend(self, out.shape)), as_column(out), alpha, beta);
  }
  void run() override { product.run(mat, vec, self, out); }
  int64_t cost() const override { return product.cost(); }
};

/// out (0 dimensions) = sum of self * other.
struct Dot final : Operator {
  Tensor self, other, out;
  Product product;

  void prepare() override {
    require(self.rank() == 1 && other.rank() == 1, "self is {}, other is {}: both must be vectors (1 dimension)",
            self.shape, other.shape);
    require(self.shape == other.shape, "self has {} elements, other has {}: the numbers must agree", self.shape[0],
            other.shape[0]);
    require_shape(out, {});
    // The engine sums one row times one column in many lanes (kernel_dot): a single running sum would drift.
    product.plan(as_row(self), as_column(other), {}, out.view({1, 1}, {1, 1}));
  }
  void run() override { product.run(self, other, {}, out); }
  int64_t cost() const override { return product.cost(); }
};

/// out = beta * self + alpha * (vec1 as a column) @ (vec2 as a row); self broadcasts. Of bools, + is or and * is and.
struct Addr final : Delegate {
  Tensor self, vec1, vec2, out;
  Scalar beta = 1, alpha = 1;
  Product product;
  bool logical = false;

  void prepare() override {
    require(vec1.rank() == 1 && vec2.rank() == 1, "vec1 is {}, vec2 is {}: both must be vectors (1 dimension)",
            vec1.shape, vec2.shape);
    const Dims shape{vec1.shape[0], vec2.shape[0]};
    require_shape(out, shape);
    restart();
    logical = out.dtype == DType::kBool && self.dtype == DType::kBool && vec1.dtype == DType::kBool &&
              vec2.dtype == DType::kBool;
    // Product adds and multiplies numbers; of bools, or and and are meant.
    if (!logical) {
      return product.plan(as_column(as_number(vec1)), as_row(as_number(vec2)), addend(as_number(self), shape), out,
                          alpha, beta);
    }
    const Operand no{{}, Scalar(false)};
    // A factor of 0 leaves its operand unread, as in the product.
    step("or_and", with("self", beta.to_bool() ? Operand{addend(self, shape), {}} : no),
         with("left", alpha.to_bool() ? Operand{as_column(vec1), {}} : no), with("right", Operand{as_row(vec2), {}}),
         with("out", out));
  }
  void run() override {
    logical ? Delegate::run() : product.run(as_number(vec1), as_number(vec2), as_number(self), out);
  }
  int64_t cost() const override { return logical ? Delegate::cost() : product.cost(); }
};

NPU_OPERATOR(Mv, "mv", "matmul", in<&Mv::self>("self"), in<&Mv::vec>("vec"), out<&Mv::out>("out"));
NPU_OPERATOR(Addmv, "addmv", "matmul", in<&Addmv::self>("self"), in<&Addmv::mat>("mat"), in<&Addmv::vec>("vec"),
             attr<&Addmv::beta>("beta"), attr<&Addmv::alpha>("alpha"), out<&Addmv::out>("out"));
NPU_OPERATOR(Dot, "dot", "matmul", in<&Dot::self>("self"), in<&Dot::other>("other"), out<&Dot::out>("out"));
NPU_OPERATOR(Addr, "addr", "matmul", in<&Addr::self>("self"), in<&Addr::vec1>("vec1"), in<&Addr::vec2>("vec2"),
             attr<&Addr::beta>("beta"), attr<&Addr::alpha>("alpha"), out<&Addr::out>("out"));

}  // namespace
}  // namespace npu::ops
