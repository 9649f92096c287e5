// SPDX-License-Identifier: Apache-2.0
// The inverse of matrices, and the sign and logarithm of their determinants.
#include <atomic>
#include <cmath>
#include <limits>

#include "ops/linalg/elimination.h"
#include "ops/linalg/matrices.h"
#include "ops/vector/loop/along_dim.h"
#include "ops/vector/loop/ordered_tensor.h"

namespace npu::ops {
namespace {

struct Inverse final : Operator {
  Tensor self, out;
  Matrices from, to;

  void prepare() override {
    from = Matrices(self, "self");
    require_square(self, "self");
    check_shape(out, "out", self.shape);
    to = Matrices(out, "out");
  }
  void run() override {
    const int64_t n = from.height();
    // Which matrix is singular is told after all are done, so that the text names the first one whatever thread met it.
    std::vector<int64_t> zero(static_cast<size_t>(from.count()), -1);
    for_matrices(from.count(), n * n * n, [&](int64_t index) {
      const Scratch<double> a(n * n), result(n * n);
      from.load(index, a);
      zero[static_cast<size_t>(index)] = invert(a, result, n);
      to.store(index, result);
    });
    for (size_t index = 0; index < zero.size(); ++index) {
      if (zero[index] < 0) continue;
      fail(Code::kNnInvalidParam, "matrix {} of self ({}) is singular: its pivot {} is zero, so it has no inverse",
           index, self, zero[index]);
    }
  }
  int64_t cost() const override { return 500 + 2 * from.count() * from.size() * from.height(); }

 private:
  /// The first pivot that is zero, or -1.
  static int64_t invert(double* a, double* result, int64_t n) {
    const Scratch<int64_t> pivots(n);
    // P A = L U: the identity takes the same exchanges, then two triangular systems make it the inverse.
    eliminate(a, n, pivots);
    std::fill(result, result + n * n, 0.0);
    for (int64_t i = 0; i < n; ++i) result[i * n + i] = 1;
    for (int64_t i = 0; i < n; ++i) {
      if (pivots[i] != i) std::swap_ranges(result + i * n, result + (i + 1) * n, result + pivots[i] * n);
    }
    solve_triangle(a, n, false, true, result, n);
    solve_triangle(a, n, true, false, result, n);
    for (int64_t i = 0; i < n; ++i) {
      // The call fails then: what a zero pivot has made of the result means nothing.
      if (a[i * n + i] == 0) return i;
    }
    return -1;
  }
};

struct Slogdet final : Operator {
  Tensor self, sign, log;
  Matrices from;
  OrderedTensor signs, logs;

  void prepare() override {
    from = Matrices(self, "self");
    require_square(self, "self");
    check_shape(sign, "sign", batch_of(self));
    check_shape(log, "log", batch_of(self));
    signs = OrderedTensor(sign, DType::kDouble);
    logs = OrderedTensor(log, DType::kDouble);
  }
  void run() override {
    const int64_t n = from.height();
    for_matrices(from.count(), n * n * n, [&](int64_t index) {
      const Scratch<double> a(n * n);
      const Scratch<int64_t> pivots(n);
      from.load(index, a);
      double result_sign = eliminate(a, n, pivots), result_log = 0;
      for (int64_t i = 0; i < n; ++i) {
        const double pivot = a[i * n + i];
        result_sign *= pivot < 0 ? -1.0 : pivot == 0 ? 0.0 : 1.0;
        // A sum of logarithms, as the determinant itself soon leaves the range of double. A zero pivot gives -inf and
        // sign 0, as in torch.
        result_log += std::log(std::abs(pivot));
      }
      signs.store(index, 1, &result_sign);
      logs.store(index, 1, &result_log);
    });
  }
  int64_t cost() const override { return 500 + from.count() * from.size() * from.height(); }
};

NPU_OPERATOR(Inverse, "inverse", "linalg", in<&Inverse::self>("self"), out<&Inverse::out>("out"));
NPU_OPERATOR(Slogdet, "slogdet", "linalg", in<&Slogdet::self>("self"), out<&Slogdet::sign>("sign"),
             out<&Slogdet::log>("log"));

}  // namespace
}  // namespace npu::ops
