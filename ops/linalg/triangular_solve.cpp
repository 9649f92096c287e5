// SPDX-License-Identifier: Apache-2.0
// Systems of equations with a triangular matrix.
#include "base/dims.h"
#include "ops/linalg/elimination.h"
#include "ops/linalg/matrices.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

// a x = self for x, where only one triangle of a is read; matrices of both broadcast. m, where it is given, receives
// a, as torch wants it.
struct TriangularSolve final : Operator {
  Tensor self, a, x, m;
  bool upper = true, transpose = false, unit = false;
  Matrices right, left, result, copy;

  void prepare() override {
    const DType slot = slot_of_matrices(self.dtype);
    right = Matrices(self, "self", slot);
    left = Matrices(a, "A", slot);
    require_square(a, "A");
    require(left.height() == right.height(), "A is {}, self is {}: the sizes {} and {} of the equations differ", a,
            self, left.height(), right.height());
    const Dims batch = broadcast(batch_of(self), batch_of(a));
    const Dims right_shape = matrix_shape(batch, right.height(), right.width());
    const Dims left_shape = matrix_shape(batch, left.height(), left.width());
    check_shape(x, "X", right_shape);
    if (m.defined()) check_shape(m, "M", left_shape);
    right = Matrices(self.expanded(right_shape), "self", slot);
    left = Matrices(a.expanded(left_shape), "A", slot);
    result = Matrices(x, "X", slot);
    if (m.defined()) copy = Matrices(m, "M", slot);
  }
  void run() override { is_complex(self.dtype) ? solve_all<std::complex<double>>() : solve_all<double>(); }
  int64_t cost() const override { return 500 + left.count() * left.size() * right.width(); }

 private:
  template <class E>
  void solve_all() const {
    const int64_t n = left.height(), k = right.width();
    for_matrices(left.count(), n * n * k, [&](int64_t index) {
      const Scratch<E> t(n * n), b(n * k);
      left.load<E>(index, t);
      right.load<E>(index, b);
      if (m.defined()) copy.store<E>(index, t);
      // A transposed lower triangle is an upper one: the solver knows only these two.
      if (transpose) flip<E>(t, n);
      solve_triangle<E>(t, n, upper != transpose, unit, b, k);
      result.store<E>(index, b);
    });
  }
  template <class E>
  static void flip(E* t, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < i; ++j) std::swap(t[i * n + j], t[j * n + i]);
    }
  }
};

NPU_OPERATOR(TriangularSolve, "triangular_solve", "linalg", in<&TriangularSolve::self>("self"),
             in<&TriangularSolve::a>("A"), attr<&TriangularSolve::upper>("upper"),
             attr<&TriangularSolve::transpose>("transpose"), attr<&TriangularSolve::unit>("unitriangular"),
             out<&TriangularSolve::x>("X"), optional_out<&TriangularSolve::m>("M"));

}  // namespace
}  // namespace npu::ops
