// SPDX-License-Identifier: Apache-2.0
// A = Q R by Householder reflections, with LAPACK's choice of signs.
#include <cmath>

#include "ops/linalg/matrices.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

enum Mode : int64_t { kReduced, kComplete, kOnlyR };

// Makes column `i` of the m x n matrix zero below its diagonal. What is left there is the reflection's vector, whose
// first element is 1; its factor is returned. A column that is zero there already needs no reflection, unless it is to
// make its diagonal real.
template <class E>
E reflect_column(E* a, int64_t m, int64_t n, int64_t i) {
  double below = 0;
  for (int64_t r = i + 1; r < m; ++r) below += std::norm(a[r * n + i]);
  const E alpha = a[i * n + i];
  if (below == 0 && std::imag(alpha) == 0) return 0;
  // The sign away from alpha: alpha - beta then adds magnitudes and cancels nothing.
  const double beta = -std::copysign(std::sqrt(std::norm(alpha) + below), std::real(alpha));
  for (int64_t r = i + 1; r < m; ++r) a[r * n + i] /= alpha - beta;
  a[i * n + i] = beta;
  return (beta - alpha) / beta;
}

// Applies the reflection of column `i` of `a` to columns [first, width) of the m-row matrix `x`.
template <class E>
void apply(const E* a, int64_t m, int64_t n, int64_t i, E factor, E* x, int64_t width, int64_t first, E* sums) {
  if (factor == E(0)) return;
  // Row by row in both passes, though columns are reflected: so memory is read in order, for all columns at once.
  for (int64_t c = first; c < width; ++c) sums[c] = x[i * width + c];
  for (int64_t r = i + 1; r < m; ++r) {
    const E v = conjugate(a[r * n + i]);
    for (int64_t c = first; c < width; ++c) sums[c] += v * x[r * width + c];
  }
  for (int64_t c = first; c < width; ++c) x[i * width + c] -= factor * sums[c];
  for (int64_t r = i + 1; r < m; ++r) {
    const E v = factor * a[r * n + i];
    for (int64_t c = first; c < width; ++c) x[r * width + c] -= v * sums[c];
  }
}

struct Qr final : Operator {
  Tensor self, q, r;
  int64_t mode = kReduced;
  Matrices from, to_q, to_r;

  void prepare() override {
    const DType slot = slot_of_matrices(self.dtype);
    from = Matrices(self, "self", slot);
    require(mode >= kReduced && mode <= kOnlyR, "mode is {}; it is 0 (reduced), 1 (complete) or 2 (only R)", mode);
    const int64_t m = from.height(), n = from.width(), inner = mode == kComplete ? m : std::min(m, n);
    check_shape(r, "R", matrix_shape(batch_of(self), inner, n));
    to_r = Matrices(r, "R", slot);
    if (mode == kOnlyR) return;
    require(q.defined(), "Q is null; mode {} writes it", mode);
    check_shape(q, "Q", matrix_shape(batch_of(self), m, inner));
    to_q = Matrices(q, "Q", slot);
  }
  void run() override {
    for_matrices(from.count(), 2 * from.size() * to_r.height(), [this](int64_t index) {
      is_complex(self.dtype) ? factor<std::complex<double>>(index) : factor<double>(index);
    });
  }
  int64_t cost() const override { return 500 + 4 * from.count() * from.size() * to_r.height(); }

 private:
  template <class E>
  void factor(int64_t index) const {
    const int64_t m = from.height(), n = from.width(), steps = std::min(m, n), inner = to_r.height();
    const Scratch<E> a(m * n), factors(steps), sums(std::max(n, inner)), out(std::max(inner * n, m * inner));
    from.load<E>(index, a);
    for (int64_t i = 0; i < steps; ++i) {
      factors[i] = reflect_column<E>(a, m, n, i);
      // R comes of the reflections' inverses, Q of the reflections.
      apply<E>(a, m, n, i, conjugate(factors[i]), a, n, i + 1, sums);
    }
    for (int64_t i = 0; i < inner; ++i) {
      for (int64_t c = 0; c < n; ++c) out[i * n + c] = c < i ? 0 : a[i * n + c];
    }
    to_r.store<E>(index, out);
    if (mode == kOnlyR) return;
    std::fill(out.data(), out.data() + m * inner, E(0));
    for (int64_t i = 0; i < inner; ++i) out[i * inner + i] = 1;
    // Q is the product of the reflections. From the last to the first each one finds zeros left of its column, which
    // need no work.
    for (int64_t i = steps; i-- > 0;) apply<E>(a, m, n, i, factors[i], out, inner, i, sums);
    to_q.store<E>(index, out);
  }
};

NPU_OPERATOR(Qr, "qr", "linalg", in<&Qr::self>("self"), attr<&Qr::mode>("mode"), optional_out<&Qr::q>("Q"),
             out<&Qr::r>("R"));

}  // namespace
}  // namespace npu::ops
