// SPDX-License-Identifier: Apache-2.0
// A = U diag(S) V^H by one-sided Jacobi rotations: slow for large matrices, accurate to the last bits for small ones.
// Signs of singular vectors (of complex ones: their phases) are as they come; no library promises any.
#include <cmath>
#include <complex>
#include <limits>
#include <numeric>

#include "ops/linalg/matrices.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

constexpr int kSweeps = 60;  // convergence is quadratic; 10 are rarely needed
// Vectors whose cosine is not above this count as orthogonal: some units of double's rounding.
constexpr double kRotated = 1e-15;

/// The product of x, conjugated, and y.
template <class E>
E dot(const E* x, const E* y, int64_t n) {
  E sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += conjugate(x[i]) * y[i];
  return sum;
}
template <class E>
double squared_length(const E* x, int64_t n) {
  return std::real(dot(x, x, n));
}

template <class E>
void rotate(E* x, E* y, int64_t n, double c, double s) {
  for (int64_t i = 0; i < n; ++i) {
    const E a = x[i], b = y[i];
    x[i] = c * a - s * b;
    y[i] = s * a + c * b;
  }
}

// The product of two vectors as a real number. The phase of a complex one is taken out of the second vector, and out of
// the rotations that made it.
double made_real(double product, double* /*y*/, int64_t /*m*/, double* /*v*/, int64_t /*n*/) { return product; }
double made_real(Complex128 product, Complex128* y, int64_t m, Complex128* v, int64_t n) {
  const double size = std::abs(product);
  const Complex128 back = std::conj(product) / size;
  for (int64_t i = 0; i < m; ++i) y[i] *= back;
  for (int64_t i = 0; i < n; ++i) v[i] *= back;
  return size;
}

// Vectors lie in rows here. Rotates pairs of the n vectors of `a` (length m) until all are orthogonal; `v` (n x n) gets
// the same rotations.
template <class E>
void orthogonalise(E* a, int64_t m, E* v, int64_t n) {
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool rotated = false;
    for (int64_t p = 0; p + 1 < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) {
        E *x = a + p * m, *y = a + q * m;
        const double xx = squared_length(x, m), yy = squared_length(y, m);
        const E product = dot(x, y, m);
        // Written so that a NaN ends the sweeps instead of turning for ever.
        if (!(std::abs(product) > kRotated * std::sqrt(xx * yy)) || std::abs(product) == 0) continue;
        rotated = true;
        const double xy = made_real(product, y, m, v + q * n, n);
        // The smaller of the two angles that make x and y orthogonal: it converges, and divides by nothing small.
        const double zeta = (yy - xx) / (2 * xy);
        const double t = std::copysign(1.0, zeta) / (std::abs(zeta) + std::hypot(1.0, zeta));
        const double c = 1 / std::hypot(1.0, t);
        rotate(x, y, m, c, c * t);
        rotate(v + p * n, v + q * n, n, c, c * t);
      }
    }
    if (!rotated) return;
  }
}

// Fills vectors [first, count) of `basis` (length m) so that all are orthonormal: each starts as the axis that the
// vectors before it cover least.
template <class E>
void complete_basis(E* basis, int64_t first, int64_t count, int64_t m) {
  for (int64_t k = first; k < count; ++k) {
    int64_t axis = 0;
    double least = std::numeric_limits<double>::infinity();
    for (int64_t i = 0; i < m; ++i) {
      double covered = 0;
      for (int64_t j = 0; j < k; ++j) covered += std::norm(basis[j * m + i]);
      if (covered < least) least = covered, axis = i;
    }
    E* made = basis + k * m;
    std::fill(made, made + m, E(0));
    made[axis] = 1;
    for (int pass = 0; pass < 2; ++pass) {  // the second pass removes what rounding left
      for (int64_t j = 0; j < k; ++j) {
        const E part = dot(basis + j * m, made, m);
        for (int64_t i = 0; i < m; ++i) made[i] -= part * basis[j * m + i];
      }
    }
    const double length = std::sqrt(squared_length(made, m));
    for (int64_t i = 0; i < m; ++i) made[i] /= length;
  }
}

/// The transposed matrix, or its conjugate.
template <class E>
void transpose(const E* from, int64_t rows, int64_t columns, E* to, bool conjugated = false) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j)
      to[j * rows + i] = conjugated ? conjugate(from[i * columns + j]) : from[i * columns + j];
  }
}

struct Svd final : Operator {
  Tensor self, s, u, v;
  bool full_matrices = false, compute_uv = true;
  Matrices from, to_s, to_u, to_v;

  void prepare() override {
    const DType slot = slot_of_matrices(self.dtype);
    from = Matrices(self, "self", slot);
    const int64_t m = from.height(), n = from.width(), k = std::min(m, n);
    Dims values = batch_of(self);
    values.push_back(k);
    check_shape(s, "S", values);
    to_s = Matrices(as_rows(s), "S");
    if (!compute_uv) return;
    require(u.defined() && v.defined(), "U or V is null; with compute_uv both are written");
    check_shape(u, "U", matrix_shape(batch_of(self), m, full_matrices ? m : k));
    check_shape(v, "V", matrix_shape(batch_of(self), n, full_matrices ? n : k));
    to_u = Matrices(u, "U", slot);
    to_v = Matrices(v, "V", slot);
  }
  void run() override {
    const int64_t work = 10 * from.size() * std::max<int64_t>(1, std::min(from.height(), from.width()));
    for_matrices(from.count(), work, [this](int64_t index) {
      is_complex(self.dtype) ? decompose<Complex128>(index) : decompose<double>(index);
    });
  }
  int64_t cost() const override {
    return 500 + 50 * from.count() * from.size() * std::min(from.height(), from.width());
  }

 private:
  // Each vector of singular values as a matrix of one row.
  static Tensor as_rows(const Tensor& t) {
    Tensor rows = t;
    rows.shape.insert(t.rank() - 1, 1);
    rows.strides.insert(t.rank() - 1, 0);
    return rows;
  }

  // Works on the n short vectors of length m, m >= n: the columns of a tall matrix or the rows of a wide one.
  template <class E>
  void decompose(int64_t index) const {
    const bool tall = from.height() >= from.width();
    const int64_t m = std::max(from.height(), from.width()), n = std::min(from.height(), from.width());
    const Scratch<E> matrix(m * n), a(m * n), rotations(n * n);
    const Scratch<double> values(n), lengths(n);
    from.load<E>(index, matrix);
    if (tall)
      transpose(matrix.data(), m, n, a.data());
    else
      std::copy_n(matrix.data(), m * n, a.data());
    std::fill(rotations.data(), rotations.data() + n * n, E(0));
    for (int64_t i = 0; i < n; ++i) rotations[i * n + i] = 1;
    orthogonalise(a.data(), m, rotations.data(), n);
    std::vector<int64_t> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    for (int64_t i = 0; i < n; ++i) lengths[i] = std::sqrt(squared_length(a.data() + i * m, m));
    // Rotations leave singular values in any order; clients expect the largest first.
    std::stable_sort(order.begin(), order.end(), [&](int64_t x, int64_t y) { return lengths[x] > lengths[y]; });
    for (int64_t i = 0; i < n; ++i) values[i] = lengths[order[static_cast<size_t>(i)]];
    to_s.store(index, values);
    if (compute_uv) write_vectors<E>(index, tall, m, n, a, rotations, lengths, order);
  }
  template <class E>
  void write_vectors(int64_t index, bool tall, int64_t m, int64_t n, const E* a, const E* rotations,
                     const double* lengths, const std::vector<int64_t>& order) const {
    const int64_t wide = full_matrices ? m : n;
    // The rotated vectors, brought to length 1, are the long singular vectors; the rotations are the short ones.
    const Scratch<E> longs(wide * m), shorts(n * n), out(std::max(wide * m, n * n));
    // Against the largest: the direction of a shorter vector is made of rounding errors, and is replaced by a sound
    // one.
    const double negligible = n == 0 ? 0 : lengths[order[0]] * static_cast<double>(m) * 1e-16;
    int64_t known = 0;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t source = order[static_cast<size_t>(i)];
      std::copy_n(rotations + source * n, n, shorts + i * n);
      if (!(lengths[source] > negligible)) continue;  // its direction is noise
      for (int64_t j = 0; j < m; ++j) longs[i * m + j] = a[source * m + j] / lengths[source];
      known = i + 1;
    }
    complete_basis(longs.data(), known, wide, m);
    // Of a wide matrix the transposed one was taken apart, whose vectors are the conjugates.
    transpose(longs.data(), wide, m, out.data(), !tall);
    (tall ? to_u : to_v).store<E>(index, out);
    transpose(shorts.data(), n, n, out.data(), !tall);
    (tall ? to_v : to_u).store<E>(index, out);
  }
};

NPU_OPERATOR(Svd, "svd", "linalg", in<&Svd::self>("self"), attr<&Svd::full_matrices>("full_matrices"),
             attr<&Svd::compute_uv>("compute_uv"), out<&Svd::s>("S"), optional_out<&Svd::u>("U"),
             optional_out<&Svd::v>("V"));

}  // namespace
}  // namespace npu::ops
