// SPDX-License-Identifier: Apache-2.0
// group_norm and its gradient: each group of channels of each sample is one row, whatever the strides.
#include <cmath>
#include <vector>

#include "base/thread_pool.h"
#include "ops/operator.h"
#include "ops/scratch.h"
#include "ops/vector/loop/ordered_tensor.h"
#include "ops/vector/loop/rows.h"

namespace npu::ops {
namespace {

// [N, C, ...] -> [N, G, C / G, ...]
// A view: for rows of a group any strides do, so channels-last images are not turned as a whole first.
Tensor split_groups(const Tensor& t, int64_t groups) {
  Tensor view = t;
  view.shape[1] = groups;
  view.shape.insert(2, t.shape[1] / groups);
  view.strides.insert(2, t.strides[1]);
  view.strides[1] = t.strides[1] * (t.shape[1] / groups);
  return view;
}

Rows group_rows(const Tensor& t, int64_t groups) {
  const Tensor view = split_groups(t, groups);
  std::vector<size_t> axes;
  for (size_t axis = 2; axis < view.rank(); ++axis) axes.push_back(axis);
  return Rows(view, axes, DType::kFloat);
}

// All values of a small tensor; `absent` where it was left out.
std::vector<double> values_of(const Tensor& t, int64_t count, double absent) {
  std::vector<double> out(static_cast<size_t>(count), absent);
  if (!t.defined() || t.count() == 0) return out;
  OrderedTensor(t, DType::kDouble).load(0, count, out.data());
  return out;
}

void write_values(const Tensor& t, const std::vector<double>& from) {
  if (t.defined() && t.count() > 0) OrderedTensor(t, DType::kDouble).store(0, t.count(), from.data());
}

struct GroupShape : Operator {
  Tensor self, weight;
  int64_t group = 1;

 protected:
  void check_shape() {
    require(is_floating(self.dtype) && self.dtype != DType::kDouble,
            "self is {}; group norm takes float32, float16 and bfloat16", self.dtype);
    require(self.rank() >= 2, "self is {}; group norm needs a batch and a channel dimension", self.shape);
    require(group > 0 && self.shape[1] % group == 0, "{} channels do not divide into {} groups", self.shape[1], group);
    samples_ = self.shape[0];
    channels_ = self.shape[1];
    check_channels(weight, "weight");
    plane_ = 1;
    for (size_t axis = 2; axis < self.rank(); ++axis) plane_ *= self.shape[axis];
  }
  void check_channels(const Tensor& t, const char* name) const {
    if (!t.defined() || t.count() == 0) return;
    require(t.shape == Dims({channels_}), "{} is {}, self has {} channels", name, t.shape, channels_);
  }
  void check_statistics(const Tensor& t, const char* name) const {
    require(t.count() == samples_ * group, "{} is {}; expected {}x{}", name, t.shape, samples_, group);
  }
  int64_t per_group() const { return channels_ / group; }
  int64_t samples_ = 0, channels_ = 0, plane_ = 0;
};

struct GroupNorm final : GroupShape {
  Tensor bias;
  double eps = 1e-5;
  bool silu = false;  ///< the result passes through x * sigmoid(swish_scale * x)
  double swish_scale = 1;
  Tensor out, mean, rstd, variance;

  void prepare() override {
    check_shape();
    check_channels(bias, "bias");
    require(out.shape == self.shape, "out is {}, self {}", out.shape, self.shape);
    check_statistics(mean, "mean");
    if (rstd.defined()) check_statistics(rstd, "rstd");
    if (variance.defined()) check_statistics(variance, "variance");
  }
  void run() override;
  int64_t cost() const override { return 1000 + 4 * self.count(); }
};

void GroupNorm::run() {
  if (self.count() == 0) return;
  const Rows from = group_rows(self, group), to = group_rows(out, group);
  const auto w = values_of(weight, channels_, 1), b = values_of(bias, channels_, 0);
  std::vector<double> means(static_cast<size_t>(samples_ * group)), rstds(means.size()), variances(means.size());
  // A row is one thread's: its sums are taken in order.
  parallel_parts(from.count(), [&](int64_t row) {
    const Scratch<float> in_row(from.length()), out_row(from.length());
    const auto* x = static_cast<const float*>(from.load(row, in_row.data()));
    auto* y = static_cast<float*>(to.target(row, out_row.data()));
    double sum = 0, square = 0;
    for (int64_t i = 0; i < from.length(); ++i) sum += x[i];
    const double average = sum / static_cast<double>(from.length());
    // A second pass over the row, which is in cache: the difference of sums of squares would cancel.
    for (int64_t i = 0; i < from.length(); ++i) square += (x[i] - average) * (x[i] - average);
    const double v = square / static_cast<double>(from.length()), r = 1 / std::sqrt(v + eps);
    for (int64_t c = 0; c < per_group(); ++c) {
      const auto channel = static_cast<size_t>(row % group * per_group() + c);
      // Mean, deviation, weight and bias become one factor and one offset a channel: one multiply-add an element.
      const auto factor = static_cast<float>(w[channel] * r);
      const auto shift = static_cast<float>(b[channel] - average * r * w[channel]);
      for (int64_t i = c * plane_; i < (c + 1) * plane_; ++i) y[i] = x[i] * factor + shift;
    }
    // On the row while it is in cache, before it is rounded to the output's type.
    const auto slope = static_cast<float>(-swish_scale);
    for (int64_t i = 0; silu && i < from.length(); ++i) y[i] = y[i] / (1.0f + std::exp(slope * y[i]));
    to.store(row, y);
    means[static_cast<size_t>(row)] = average;
    rstds[static_cast<size_t>(row)] = r;
    variances[static_cast<size_t>(row)] = v;
  });
  write_values(mean, means);
  write_values(rstd, rstds);
  write_values(variance, variances);
}

struct GroupNormGrad final : GroupShape {
  Tensor grad_output, mean, rstd, bias;
  std::vector<bool> output_mask{true, true, true};
  bool swish = false;  ///< the forward result went through x * sigmoid(swish_scale * x); needs the bias
  double swish_scale = 1;
  Tensor grad_input, grad_weight, grad_bias;

  void prepare() override {
    check_shape();
    require(grad_output.shape == self.shape, "grad_output is {}, self {}", grad_output.shape, self.shape);
    check_statistics(mean, "mean");
    check_statistics(rstd, "rstd");
    require(output_mask.size() == 3, "output_mask has {} entries; it says which of 3 gradients are wanted",
            output_mask.size());
    if (wants(0, grad_input))
      require(grad_input.shape == self.shape, "grad_input is {}, self {}", grad_input.shape, self.shape);
    if (wants(1, grad_weight)) check_channels(grad_weight, "grad_weight");
    if (wants(2, grad_bias)) check_channels(grad_bias, "grad_bias");
    if (swish) check_channels(bias, "bias");
  }
  void run() override;
  int64_t cost() const override { return 1000 + 8 * self.count(); }

 private:
  bool wants(size_t which, const Tensor& t) const { return output_mask[which] && t.defined() && t.count() > 0; }
  void run_row(int64_t row, const std::vector<double>& w, double m, double r, const float* x, const float* dy,
               double* ds, double* db, float* dx) const;
  void through_swish(int64_t row, const std::vector<double>& w, const std::vector<double>& b, double m, double r,
                     const float* x, const float* dy, float* before) const;
};

// The gradient before the swish: dy times its derivative at the normalised value, which is computed again.
void GroupNormGrad::through_swish(int64_t row, const std::vector<double>& w, const std::vector<double>& b, double m,
                                  double r, const float* x, const float* dy, float* before) const {
  const int64_t first = row % group * per_group();
  for (int64_t i = 0; i < per_group() * plane_; ++i) {
    const auto channel = static_cast<size_t>(first + i / plane_);
    const double y = (x[i] - m) * r * w[channel] + b[channel];
    const double s = 1 / (1 + std::exp(-swish_scale * y));
    before[i] = static_cast<float>(dy[i] * (s + swish_scale * y * s * (1 - s)));
  }
}

// ds and db are the sums of dy * x and dy over each channel; the group's input gradient follows from them.
void GroupNormGrad::run_row(int64_t row, const std::vector<double>& w, double m, double r, const float* x,
                            const float* dy, double* ds, double* db, float* dx) const {
  const int64_t first = row % group * per_group();
  double weighted_ds = 0, weighted_db = 0;
  for (int64_t c = 0; c < per_group(); ++c) {
    double s = 0, b = 0;
    for (int64_t i = c * plane_; i < (c + 1) * plane_; ++i) {
      s += static_cast<double>(dy[i]) * x[i];
      b += dy[i];
    }
    // Kept for every sample: the gradients of weight and bias are made of them afterwards.
    ds[c] = s;
    db[c] = b;
    weighted_ds += s * w[static_cast<size_t>(first + c)];
    weighted_db += b * w[static_cast<size_t>(first + c)];
  }
  const double count = static_cast<double>(per_group() * plane_);
  // With the group's sums, dx is linear in dy and x: a factor for each channel, a slope and a shift for all.
  const double slope = (weighted_db * m - weighted_ds) * r * r * r / count;
  const double shift = -slope * m - weighted_db * r / count;
  for (int64_t c = 0; c < per_group(); ++c) {
    const double factor = w[static_cast<size_t>(first + c)] * r;
    for (int64_t i = c * plane_; i < (c + 1) * plane_; ++i) {
      dx[i] = static_cast<float>(dy[i] * factor + x[i] * slope + shift);
    }
  }
}

void GroupNormGrad::run() {
  if (self.count() == 0) {  // sums of nothing
    const std::vector<double> zeros(static_cast<size_t>(channels_));
    if (wants(1, grad_weight)) write_values(grad_weight, zeros);
    if (wants(2, grad_bias)) write_values(grad_bias, zeros);
    return;
  }
  const Rows input = group_rows(self, group), upper = group_rows(grad_output, group);
  const bool writes = wants(0, grad_input);
  // Never written then; there must be some Rows to hold.
  const Rows lower = writes ? group_rows(grad_input, group) : input;
  const auto w = values_of(weight, channels_, 1), m = values_of(mean, samples_ * group, 0);
  const auto r = values_of(rstd, samples_ * group, 0), b = values_of(bias, channels_, 0);
  std::vector<double> ds(static_cast<size_t>(samples_ * channels_)), db(ds.size());
  parallel_parts(input.count(), [&](int64_t row) {
    const Scratch<float> x_row(input.length()), y_row(input.length()), d_row(input.length());
    const Scratch<float> before(swish ? input.length() : 0);
    const auto* x = static_cast<const float*>(input.load(row, x_row.data()));
    const auto* dy = static_cast<const float*>(upper.load(row, y_row.data()));
    const auto at = static_cast<size_t>(row);
    if (swish) {
      through_swish(row, w, b, m[at], r[at], x, dy, before);
      dy = before;
    }
    run_row(row, w, m[at], r[at], x, dy, ds.data() + row * per_group(), db.data() + row * per_group(), d_row);
    if (!writes) return;
    auto* to = static_cast<float*>(lower.target(row, d_row.data()));
    if (to != d_row.data()) std::copy_n(d_row.data(), input.length(), to);
    lower.store(row, to);
  });
  // Samples are added in order, so the sums do not depend on who computed what.
  std::vector<double> dw(static_cast<size_t>(channels_)), dbias(dw.size());
  for (int64_t n = 0; n < samples_; ++n) {
    for (int64_t c = 0; c < channels_; ++c) {
      const auto at = static_cast<size_t>(n * channels_ + c), g = static_cast<size_t>(n * group + c / per_group());
      dw[static_cast<size_t>(c)] += (ds[at] - db[at] * m[g]) * r[g];
      dbias[static_cast<size_t>(c)] += db[at];
    }
  }
  if (wants(1, grad_weight)) write_values(grad_weight, dw);
  if (wants(2, grad_bias)) write_values(grad_bias, dbias);
}

NPU_OPERATOR(GroupNorm, "group_norm", "norm", in<&GroupNorm::self>("self"), optional<&GroupNorm::weight>("weight"),
             optional<&GroupNorm::bias>("bias"), attr<&GroupNorm::group>("group"), attr<&GroupNorm::eps>("eps"),
             attr<&GroupNorm::silu>("silu"), attr<&GroupNorm::swish_scale>("swish_scale"), out<&GroupNorm::out>("out"),
             out<&GroupNorm::mean>("mean"), optional_out<&GroupNorm::rstd>("rstd"),
             optional_out<&GroupNorm::variance>("variance"));
NPU_OPERATOR(GroupNormGrad, "group_norm_grad", "norm", in<&GroupNormGrad::grad_output>("grad_output"),
             in<&GroupNormGrad::self>("self"), in<&GroupNormGrad::mean>("mean"), in<&GroupNormGrad::rstd>("rstd"),
             optional<&GroupNormGrad::weight>("weight"), optional<&GroupNormGrad::bias>("bias"),
             attr<&GroupNormGrad::swish>("swish"), attr<&GroupNormGrad::swish_scale>("swish_scale"),
             attr<&GroupNormGrad::group>("group"), attr<&GroupNormGrad::output_mask>("output_mask"),
             optional_out<&GroupNormGrad::grad_input>("grad_input"),
             optional_out<&GroupNormGrad::grad_weight>("grad_weight"),
             optional_out<&GroupNormGrad::grad_bias>("grad_bias"));

}  // namespace
}  // namespace npu::ops
