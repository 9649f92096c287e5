// SPDX-License-Identifier: Apache-2.0
// The Cholesky factor of symmetric positive definite matrices, of which one triangle is read: the other may hold
// anything.
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
    from = Matrices(self, "self");
    require_square(self, "self");
    check_shape(out, "out", self.shape);
    to = Matrices(out, "out");
  }
  void run() override {
    const int64_t n = from.height();
    std::vector<int64_t> wrong(static_cast<size_t>(from.count()), -1);
    for_matrices(from.count(), n * n * n / 3, [&](int64_t index) {
      const Scratch<double> a(n * n), factor(n * n);
      from.load(index, a);
      if (upper) transpose(a, n);
      wrong[static_cast<size_t>(index)] = factorize(a, factor, n);
      if (upper) transpose(factor, n);
      to.store(index, factor);
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
  static void transpose(double* a, int64_t n) {
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < i; ++j) std::swap(a[i * n + j], a[j * n + i]);
  }

  /// The lower factor, row by row: each element takes dot products of rows before it, which lie dense. The first row
  /// whose pivot is not above zero (or no number), or -1.
  static int64_t factorize(const double* a, double* l, int64_t n) {
    std::fill(l, l + n * n, 0.0);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < i; ++j) l[i * n + j] = remainder_of(a, l, n, i, j) / l[j * n + j];
      const double pivot = remainder_of(a, l, n, i, i);
      if (!(pivot > 0)) return i;
      l[i * n + i] = std::sqrt(pivot);
    }
    return -1;
  }
  static double remainder_of(const double* a, const double* l, int64_t n, int64_t i, int64_t j) {
    double rest = a[i * n + j];
    for (int64_t k = 0; k < j; ++k) rest -= l[i * n + k] * l[j * n + k];
    return rest;
  }
};

NPU_OPERATOR(Cholesky, "cholesky", "linalg", in<&Cholesky::self>("self"), attr<&Cholesky::upper>("upper"),
             out<&Cholesky::out>("out"));

}  // namespace
}  // namespace npu::ops
