// SPDX-License-Identifier: Apache-2.0
// Layer norm of alpha * x + gx (DeepNet's residual connection), and its gradient. The last dimensions, those of gamma,
// form a row.
#include <cmath>
#include <numeric>

#include "base/thread_pool.h"
#include "ops/norm/norm_rows.h"
#include "ops/operator.h"
#include "ops/scratch.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

// x and gx are added up in double, row by row; their sum is never stored.
struct DeepNormShape : Operator {
  Tensor x, gx, gamma, mean, rstd;
  double alpha = 0.3;

 protected:
  void check() {
    require(is_floating(x.dtype) && gamma.rank() >= 1 && gamma.rank() <= x.rank(),
            "x is {}, gamma is {}; x must be floating point and end with the dimensions of gamma", x, gamma);
    for (size_t i = 0; i < gamma.rank(); ++i) {
      require(gamma.shape[i] == x.shape[x.rank() - gamma.rank() + i],
              "x is {}, gamma is {}; x must end with the dimensions of gamma", x, gamma);
    }
    check_shape(gx, "gx", x.shape);
    x_ = rows_of(x);
    gx_ = rows_of(gx);
    gamma_.plan(gamma, DType::kDouble);
    check_parameter("mean", mean, x_.count());
    check_parameter("rstd", rstd, x_.count());
  }
  Rows rows_of(const Tensor& t) const {
    std::vector<size_t> axes(gamma.rank());
    std::iota(axes.begin(), axes.end(), t.rank() - axes.size());
    return Rows(t, axes, DType::kDouble);
  }
  /// What is normalised.
  void sum_row(int64_t row, double* to) const {
    const Scratch<double> a(x_.length()), b(x_.length());
    const auto* first = static_cast<const double*>(x_.load(row, a));
    const auto* second = static_cast<const double*>(gx_.load(row, b));
    for (int64_t i = 0; i < x_.length(); ++i) to[i] = alpha * first[i] + second[i];
  }
  Rows x_, gx_;
  WholeRow gamma_;
};

struct DeepNorm final : DeepNormShape {
  Tensor beta, out;
  double eps = 1e-6;
  WholeRow shift;
  Rows to;

  void prepare() override {
    check();
    check_shape(beta, "beta", gamma.shape);
    check_shape(out, "y", x.shape);
    shift.plan(beta, DType::kDouble);
    to = rows_of(out);
  }
  void run() override {
    std::vector<std::byte> keep_scale, keep_shift;
    const auto* scale = static_cast<const double*>(gamma_.load(keep_scale));
    const auto* offset = static_cast<const double*>(shift.load(keep_shift));
    for_rows(x_, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) run_row(row, scale, offset);
    });
  }
  int64_t cost() const override { return 500 + 4 * x.count(); }

 private:
  void run_row(int64_t row, const double* scale, const double* offset) const {
    const int64_t n = x_.length();
    const Scratch<double> v(n), buffer(n);
    sum_row(row, v);
    // Everything in double, from loaded row to stored one: two passes then lose nothing that a float result would show.
    const double average = std::accumulate(v.data(), v.data() + n, 0.0) / static_cast<double>(n);
    double square = 0;
    for (int64_t i = 0; i < n; ++i) square += (v[i] - average) * (v[i] - average);
    const double r = 1 / std::sqrt(square / static_cast<double>(n) + eps);
    auto* y = static_cast<double*>(to.target(row, buffer));
    for (int64_t i = 0; i < n; ++i) y[i] = (v[i] - average) * r * scale[i] + offset[i];
    to.store(row, y);
    set_parameter(mean, row, average);
    set_parameter(rstd, row, r);
  }
};

struct DeepNormGrad final : DeepNormShape {
  Tensor grad, grad_x, grad_gx, grad_beta, grad_gamma;
  Rows upper, to_x, to_gx;
  WholeRow to_beta, to_gamma;

  void prepare() override {
    check();
    check_shape(grad, "dy", x.shape);
    check_shape(grad_x, "dx", x.shape);
    check_shape(grad_gx, "dgx", x.shape);
    check_shape(grad_beta, "dbeta", gamma.shape);
    check_shape(grad_gamma, "dgamma", gamma.shape);
    upper = rows_of(grad);
    to_x = rows_of(grad_x);
    to_gx = rows_of(grad_gx);
    to_beta.plan(grad_beta, DType::kDouble);
    to_gamma.plan(grad_gamma, DType::kDouble);
  }
  void run() override {
    const int64_t n = x_.length(), parts = std::min<int64_t>(64, x_.count());
    // At most 64 parts, each with sums of its own, joined in order: as many whatever the number of threads.
    std::vector<double> beta(static_cast<size_t>(n)), scale(beta), totals(static_cast<size_t>(parts * 2 * n));
    std::vector<std::byte> keep;
    const auto* weight = static_cast<const double*>(gamma_.load(keep));
    parallel_parts(parts, [&](int64_t part) {
      double* sums = totals.data() + part * 2 * n;
      for (int64_t row = part; row < x_.count(); row += parts) run_row(row, weight, sums, sums + n);
    });
    for (int64_t part = 0; part < parts; ++part) {
      for (int64_t i = 0; i < n; ++i) {
        beta[static_cast<size_t>(i)] += totals[static_cast<size_t>(part * 2 * n + i)];
        scale[static_cast<size_t>(i)] += totals[static_cast<size_t>(part * 2 * n + n + i)];
      }
    }
    if (n > 0) to_beta.store(beta.data());
    if (n > 0) to_gamma.store(scale.data());
  }
  int64_t cost() const override { return 500 + 8 * x.count(); }

 private:
  void run_row(int64_t row, const double* weight, double* beta, double* scale) const {
    const int64_t n = x_.length();
    const Scratch<double> v(n), dy(n), made(n), buffer(n);
    // Added up again rather than kept: the sum would be another tensor of x's size.
    sum_row(row, v);
    const double average = parameter(mean, row, 0), r = parameter(rstd, row, 1);
    const auto* g = static_cast<const double*>(upper.load(row, dy));
    double first = 0, second = 0;
    for (int64_t i = 0; i < n; ++i) {
      v[i] = (v[i] - average) * r;
      beta[i] += g[i];
      scale[i] += g[i] * v[i];
      first += g[i] * weight[i];
      second += g[i] * weight[i] * v[i];
    }
    const auto count = static_cast<double>(n);
    for (int64_t i = 0; i < n; ++i) made[i] = r * (g[i] * weight[i] - first / count - v[i] * second / count);
    // From `made`, when all is read: either result may lie where x, gx or dy lies.
    write(to_gx, row, made, 1, buffer);
    write(to_x, row, made, alpha, buffer);
  }
  static void write(const Rows& rows, int64_t row, const double* from, double factor, double* buffer) {
    auto* to = static_cast<double*>(rows.target(row, buffer));
    for (int64_t i = 0; i < rows.length(); ++i) to[i] = factor * from[i];
    rows.store(row, to);
  }
};

NPU_OPERATOR(DeepNorm, "deep_norm", "norm", in<&DeepNorm::x>("x"), in<&DeepNorm::gx>("gx"), in<&DeepNorm::beta>("beta"),
             in<&DeepNorm::gamma>("gamma"), attr<&DeepNorm::alpha>("alpha"), attr<&DeepNorm::eps>("eps"),
             out<&DeepNorm::mean>("mean"), out<&DeepNorm::rstd>("rstd"), out<&DeepNorm::out>("out"));
NPU_OPERATOR(DeepNormGrad, "deep_norm_grad", "norm", in<&DeepNormGrad::grad>("grad"), in<&DeepNormGrad::x>("x"),
             in<&DeepNormGrad::gx>("gx"), in<&DeepNormGrad::gamma>("gamma"), in<&DeepNormGrad::mean>("mean"),
             in<&DeepNormGrad::rstd>("rstd"), attr<&DeepNormGrad::alpha>("alpha"), out<&DeepNormGrad::grad_x>("grad_x"),
             out<&DeepNormGrad::grad_gx>("grad_gx"), out<&DeepNormGrad::grad_beta>("grad_beta"),
             out<&DeepNormGrad::grad_gamma>("grad_gamma"));

}  // namespace
}  // namespace npu::ops
