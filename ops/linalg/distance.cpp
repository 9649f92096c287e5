// SPDX-License-Identifier: Apache-2.0
// Every distance is a walk over two rows in double. For p = 2 a product of matrices would do with fewer operations, but
// it takes |x|² + |y|² - 2xy, which cancels where rows are close.
// Distances between the rows of matrices in the p-norm, and their gradient with respect to the first matrix.
#include <cmath>

#include "base/dims.h"
#include "ops/linalg/matrices.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

// p as clients give it: a number, infinity, or -1 for infinity.
double norm_order(double p) {
  require(p >= 0 || p == -1, "p is {}; it is 0 or more, or -1 for infinity", p);
  return p == -1 ? HUGE_VAL : p;
}

double distance(const double* x, const double* y, int64_t n, double p) {
  double total = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double d = std::abs(x[i] - y[i]);
    if (std::isinf(p))
      // Once NaN, total stays so: no difference is larger than it.
      total = d > total || std::isnan(d) ? d : total;
    else if (p == 0)
      total += d != 0;
    else
      // pow costs far more than what the usual orders need.
      total += p == 2 ? d * d : p == 1 ? d : std::pow(d, p);
  }
  if (p == 0 || p == 1 || std::isinf(p)) return total;
  return p == 2 ? std::sqrt(total) : std::pow(total, 1 / p);
}

// Derivative of a distance `length` with respect to one coordinate's difference `d`; 0 where it has none.
double slope(double d, double length, double p) {
  if (p == 0 || d == 0 || length == 0) return 0;
  // Every coordinate that is as long as the distance gets the whole gradient, as in torch.
  if (std::isinf(p)) return std::abs(d) == length ? std::copysign(1.0, d) : 0;
  if (p == 1) return std::copysign(1.0, d);
  return p == 2 ? d / length : std::copysign(std::pow(std::abs(d) / length, p - 1), d);
}

struct Cdist final : Operator {
  Tensor x1, x2, out;
  double p = 2;
  Matrices left, right, result;

  void prepare() override {
    left = Matrices(x1, "x1");
    right = Matrices(x2, "x2");
    require(left.width() == right.width(), "x1 is {}, x2 is {}: their rows have {} and {} elements", x1, x2,
            left.width(), right.width());
    const Dims batch = broadcast(batch_of(x1), batch_of(x2));
    check_shape(out, "out", matrix_shape(batch, left.height(), right.height()));
    // Broadcast by strides of 0: a matrix that stands for many is loaded again for each, never copied in memory.
    left = Matrices(x1.expanded(matrix_shape(batch, left.height(), left.width())), "x1");
    right = Matrices(x2.expanded(matrix_shape(batch, right.height(), right.width())), "x2");
    result = Matrices(out, "out");
    norm_order(p);
  }
  void run() override {
    const int64_t n = left.height(), k = right.height(), m = left.width();
    const double order = norm_order(p);
    for_matrices(result.count(), n * k * (m + 1), [&](int64_t index) {
      const Scratch<double> x(n * m), y(k * m), made(n * k);
      left.load(index, x);
      right.load(index, y);
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < k; ++j) made[i * k + j] = distance(x + i * m, y + j * m, m, order);
      }
      result.store(index, made);
    });
  }
  int64_t cost() const override { return 500 + result.count() * left.height() * right.height() * left.width(); }
};

struct CdistBackward final : Operator {
  Tensor grad, x1, x2, cdist, out;
  double p = 2;
  Matrices upper, left, right, lengths, result;

  void prepare() override {
    left = Matrices(x1, "x1");
    right = Matrices(x2, "x2");
    require(left.width() == right.width() && batch_of(x1) == batch_of(x2),
            "x1 is {}, x2 is {}: both have the same batch and rows of the same length", x1, x2);
    const Dims pairs = matrix_shape(batch_of(x1), left.height(), right.height());
    check_shape(grad, "grad", pairs);
    check_shape(cdist, "cdist", pairs);
    check_shape(out, "out", x1.shape);
    upper = Matrices(grad, "grad");
    lengths = Matrices(cdist, "cdist");
    result = Matrices(out, "out");
    norm_order(p);
  }
  void run() override {
    const int64_t work = left.height() * right.height() * left.width();
    for_matrices(result.count(), 2 * work, [this](int64_t index) { run_matrix(index, norm_order(p)); });
  }
  int64_t cost() const override { return 500 + 2 * left.count() * left.size() * right.height(); }

 private:
  // A distance is computed again: rounding its stored form would blur which coordinate is the largest.
  void run_matrix(int64_t index, double order) const {
    const int64_t n = left.height(), k = right.height(), m = left.width();
    const Scratch<double> x(n * m), y(k * m), dy(n * k), made(n * m);
    left.load(index, x);
    right.load(index, y);
    upper.load(index, dy);
    std::fill(made.data(), made.data() + n * m, 0.0);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < k; ++j) {
        const double length = distance(x + i * m, y + j * m, m, order);
        for (int64_t c = 0; c < m; ++c) {
          made[i * m + c] += dy[i * k + j] * slope(x[i * m + c] - y[j * m + c], length, order);
        }
      }
    }
    result.store(index, made);
  }
};

// Distances between all pairs of rows i < j of one matrix, in that order.
struct Pdist final : Operator {
  Tensor self, out;
  double p = 2;
  Matrices from;
  Rows result;

  void prepare() override {
    require(self.rank() == 2, "self is {}; pdist takes one matrix", self);
    from = Matrices(self, "self");
    const int64_t n = from.height();
    check_shape(out, "out", {n * (n - 1) / 2});
    result = Rows(out, 0, DType::kDouble);
    norm_order(p);
  }
  void run() override {
    const int64_t n = from.height(), m = from.width();
    if (n < 2) return;
    const Scratch<double> x(n * m), made(n * (n - 1) / 2);
    from.load(0, x);
    // Row i has n - 1 - i pairs, the earlier rows have i * n - i * (i + 1) / 2: each row writes a range of its own.
    parallel_parts(n, [&](int64_t i) {
      double* to = made + (i * n - i * (i + 1) / 2);
      for (int64_t j = i + 1; j < n; ++j) to[j - i - 1] = distance(x + i * m, x + j * m, m, norm_order(p));
    });
    auto* to = static_cast<double*>(result.target(0, made));
    if (to != made.data()) std::copy_n(made.data(), result.length(), to);
    result.store(0, to);
  }
  int64_t cost() const override { return 500 + from.size() * from.height(); }
};

// Distances between rows that already stand side by side: both tensors were broadcast by the client.
struct PairDistance final : Operator {
  Tensor x1, x2, out;
  double p = 2;
  Rows left, right, result;

  void prepare() override {
    require(x1.rank() >= 2 && x1.shape == x2.shape && is_floating(x1.dtype) && is_floating(x2.dtype),
            "x1 is {}, x2 is {}; both must be floating point and have one shape", x1, x2);
    Tensor column = out;  // one number a row
    column.shape.push_back(1);
    column.strides.push_back(1);
    Dims shape = x1.shape;
    shape.back() = 1;
    check_shape(column, "out with a dimension of 1 behind", shape);
    left = Rows(x1, x1.rank() - 1, DType::kDouble);
    right = Rows(x2, x2.rank() - 1, DType::kDouble);
    result = Rows(column, column.rank() - 1, DType::kDouble);
    norm_order(p);
  }
  void run() override {
    for_rows(left, [this](int64_t begin, int64_t end) {
      const Scratch<double> x(left.length()), y(left.length());
      for (int64_t row = begin; row < end; ++row) {
        double made = 0;
        auto* to = static_cast<double*>(result.target(row, &made));
        *to = distance(static_cast<const double*>(left.load(row, x)), static_cast<const double*>(right.load(row, y)),
                       left.length(), norm_order(p));
        result.store(row, to);
      }
    });
  }
  int64_t cost() const override { return 500 + 2 * x1.count(); }
};

// For each row of `to` the numbers of those rows of `from` that broadcasting made of it: both without their last axis.
std::vector<std::vector<int64_t>> rows_made_of(const Dims& to, const Dims& from) {
  std::vector<std::vector<int64_t>> made(static_cast<size_t>(count_of(to)));
  const size_t lead = from.size() - to.size();
  for (int64_t row = 0; row < count_of(from); ++row) {
    int64_t left = row, at = 0, step = 1;
    for (size_t axis = from.size(); axis-- > lead; left /= from[axis]) {
      if (to[axis - lead] != 1) at += left % from[axis] * step;
      step *= to[axis - lead];
    }
    made[static_cast<size_t>(at)].push_back(row);
  }
  return made;
}

// Its gradient with respect to x1, summed over the last dimension but one, along which x1 was repeated, and over the
// batch where out has none.
struct PairDistanceGrad final : Operator {
  Tensor grad, x1, x2, out;
  double p = 2;
  Matrices upper, left, right;
  Rows result;
  std::vector<std::vector<int64_t>> parts;  // of each row of out, the matrices that are summed

  void prepare() override {
    upper = Matrices(grad, "grad");
    left = Matrices(x1, "x1");
    right = Matrices(x2, "x2");
    require(grad.shape == x1.shape && x2.shape == x1.shape, "grad is {}, x1 is {}, x2 is {}; all must have one shape",
            grad, x1, x2);
    Dims all = x1.shape;  // of rows with their gradients
    all.erase(all.size() - 2);
    require(is_floating(out.dtype) && out.rank() > 0 && out.shape.back() == all.back() && out.expands(all),
            "out is {}; x1 is {}: the gradient is {}, or summed over its first dimensions", out, x1, all);
    result = Rows(out, out.rank() - 1, DType::kDouble);
    Dims rows = out.shape;
    rows.pop_back();
    all.pop_back();
    parts = rows_made_of(rows, all);
    norm_order(p);
  }
  void run() override {
    const auto count = static_cast<int64_t>(parts.size());
    for_matrices(count, 4 * left.size() * left.count() / std::max<int64_t>(count, 1),
                 [this](int64_t row) { run_row(row, norm_order(p)); });
  }
  int64_t cost() const override { return 500 + 4 * x1.count(); }

 private:
  // Repeated rows of x1 are added up by one thread, in their order.
  void run_row(int64_t row, double order) const {
    const int64_t n = left.height(), m = left.width();
    const Scratch<double> x(n * m), y(n * m), dy(n * m), made(m), buffer(m);
    std::fill(made.data(), made.data() + m, 0.0);
    for (const int64_t index : parts[static_cast<size_t>(row)]) {
      left.load(index, x);
      right.load(index, y);
      upper.load(index, dy);
      for (int64_t i = 0; i < n * m; i += m) {
        const double length = distance(x + i, y + i, m, order);
        for (int64_t c = 0; c < m; ++c) made[c] += dy[i + c] * slope(x[i + c] - y[i + c], length, order);
      }
    }
    auto* to = static_cast<double*>(result.target(row, buffer));
    std::copy_n(made.data(), m, to);
    result.store(row, to);
  }
};

NPU_OPERATOR(PairDistance, "pair_distance", "linalg", in<&PairDistance::x1>("x1"), in<&PairDistance::x2>("x2"),
             attr<&PairDistance::p>("p"), out<&PairDistance::out>("out"));
NPU_OPERATOR(PairDistanceGrad, "pair_distance_grad", "linalg", in<&PairDistanceGrad::grad>("grad"),
             in<&PairDistanceGrad::x1>("x1"), in<&PairDistanceGrad::x2>("x2"), attr<&PairDistanceGrad::p>("p"),
             out<&PairDistanceGrad::out>("out"));
NPU_OPERATOR(Cdist, "cdist", "linalg", in<&Cdist::x1>("x1"), in<&Cdist::x2>("x2"), attr<&Cdist::p>("p"),
             out<&Cdist::out>("out"));
NPU_OPERATOR(CdistBackward, "cdist_backward", "linalg", in<&CdistBackward::grad>("grad"), in<&CdistBackward::x1>("x1"),
             in<&CdistBackward::x2>("x2"), in<&CdistBackward::cdist>("cdist"), attr<&CdistBackward::p>("p"),
             out<&CdistBackward::out>("out"));
NPU_OPERATOR(Pdist, "pdist", "linalg", in<&Pdist::self>("self"), attr<&Pdist::p>("p"), out<&Pdist::out>("out"));

}  // namespace
}  // namespace npu::ops
