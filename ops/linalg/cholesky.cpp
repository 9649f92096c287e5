// SPDX-License-Identifier: Apache-2.0
// The Cholesky factor of symmetric (complex: Hermitian) positive definite matrices, of which one triangle is read: the
// other may hold anything.
#include <cmath>

#include "ops/linalg/matrices.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

struct Cholesky final : Operator {
  Tensor self, out;
  bool upper = false;
  Matrices from, to;

  void prepare() override {
    const DType slot = slot_of_matrices(self.dtype);
    from = Matrices(self, "self", slot);
    require_square(self, "self");
    check_shape(out, "out", self.shape);
    to = Matrices(out, "out", slot);
  }
  void run() override {
    const int64_t n = from.height();
    std::vector<int64_t> wrong(static_cast<size_t>(from.count()), -1);
    for_matrices(from.count(), n * n * n / 3, [&](int64_t index) {
      wrong[static_cast<size_t>(index)] =
          is_complex(self.dtype) ? factor<std::complex<double>>(index) : factor<double>(index);
    });
    // Threads meet their matrices in any order; the first wrong one is told.
    for (size_t index = 0; index < wrong.size(); ++index) {
      if (wrong[index] < 0) continue;
      fail(Code::kNnInvalidParam,
           "matrix {} of self ({}) is not positive definite: its leading minor of order {} is not", index, self,
           wrong[index] + 1);
    }
  }
  int64_t cost() const override { return 500 + from.count() * from.size() * from.height() / 3; }

 private:
  template <class E>
  int64_t factor(int64_t index) const {
    const int64_t n = from.height();
    const Scratch<E> a(n * n), lower(n * n);
    from.load<E>(index, a);
    if (upper) transpose<E>(a, n);
    const int64_t wrong = factorize<E>(a, lower, n);
    if (upper) transpose<E>(lower, n);
    to.store<E>(index, lower);
    return wrong;
  }

  /// And conjugated, where that makes a difference.
  template <class E>
  static void transpose(E* a, int64_t n) {
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j <= i; ++j) {
        const E below = a[i * n + j];
        a[i * n + j] = conjugate(a[j * n + i]);
        a[j * n + i] = conjugate(below);
      }
  }

  /// The lower factor, row by row: each element takes dot products of rows before it, which lie dense. The first row
  /// whose pivot is not above zero (or no number), or -1.
  template <class E>
  static int64_t factorize(const E* a, E* l, int64_t n) {
    std::fill(l, l + n * n, E(0));
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < i; ++j) l[i * n + j] = remainder_of(a, l, n, i, j) / l[j * n + j];
      const double pivot = std::real(remainder_of(a, l, n, i, i));
      if (!(pivot > 0)) return i;
      l[i * n + i] = std::sqrt(pivot);
    }
    return -1;
  }
  template <class E>
  static E remainder_of(const E* a, const E* l, int64_t n, int64_t i, int64_t j) {
    E rest = a[i * n + j];
    for (int64_t k = 0; k < j; ++k) rest -= l[i * n + k] * conjugate(l[j * n + k]);
    return rest;
  }
};

NPU_OPERATOR(Cholesky, "cholesky", "linalg", in<&Cholesky::self>("self"), attr<&Cholesky::upper>("upper"),
             out<&Cholesky::out>("out"));

}  // namespace
}  // namespace npu::ops
