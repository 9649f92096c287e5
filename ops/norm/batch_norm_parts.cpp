// SPDX-License-Identifier: Apache-2.0
// Batch normalisation in the steps of the vendor's single operators, whose second step takes the sums that the first
// one made: normalisation from sums, its gradient from the gradients of scale and offset, and the gradient of
// normalisation by given statistics.
#include <algorithm>
#include <cmath>

#include "ops/norm/channels.h"
#include "ops/norm/parameter.h"
#include "ops/operator.h"

namespace npu::ops {
namespace {

/// A map over channels whose coefficients come from small tensors.
struct ChannelStep : Operator {
  Tensor self, weight;
  double eps = 1e-4;
  Channels channels;
  std::vector<double> center, scale, shift, slope;

  int64_t cost() const override { return channels.cost(); }

 protected:
  void plan(const Tensor& x, const Tensor* gradient, const Tensor& result) {
    require(x.rank() >= 2, "the input is {}: batch norm takes [N, C, ...]; add a batch dimension", x);
    channels.plan(x, gradient, &result, 1, norm_slot(x));
    check("weight", weight);
    for (auto* list : {&center, &scale, &shift, &slope}) list->resize(static_cast<size_t>(channels.count()));
  }
  void check(std::string_view name, const Tensor& t) const { check_parameter(name, t, channels.count()); }
  void map(Channels::Map what) const {
    channels.run(Channels::Sums::kNone, {}, what, {center.data(), scale.data(), shift.data(), slope.data()});
  }
  double samples() const { return static_cast<double>(channels.samples()); }
  double inverse(double variance) const { return 1 / std::sqrt(variance + eps); }
};

struct BatchNormUpdate final : ChannelStep {
  Tensor sum, square_sum, bias, running_mean, running_var, out, batch_mean, batch_variance;
  double momentum = 0.1;

  void prepare() override {
    plan(self, nullptr, out);
    check("sum", sum), check("square_sum", square_sum), check("bias", bias);
    check("running_mean", running_mean), check("running_var", running_var);
    check("batch_mean", batch_mean), check("batch_variance", batch_variance);
  }
  void run() override {
    for (int64_t c = 0; c < channels.count(); ++c) {
      const double mean = parameter(sum, c, 0) / samples();
      // The vendor's operators exchange sums of squares: where the mean is large the difference cancels, and must not
      // fall below zero.
      const double variance = std::max(0.0, parameter(square_sum, c, 0) / samples() - mean * mean);
      const auto i = static_cast<size_t>(c);
      center[i] = mean;
      scale[i] = inverse(variance) * parameter(weight, c, 1);
      shift[i] = parameter(bias, c, 0);
      set_parameter(batch_mean, c, mean);
      set_parameter(batch_variance, c, variance);
      update(running_mean, c, mean);
      update(running_var, c, variance * samples() / (samples() - 1));
    }
    map(Channels::Map::kAffine);
  }

 private:
  void update(const Tensor& running, int64_t c, double value) const {
    set_parameter(running, c, momentum * value + (1 - momentum) * parameter(running, c, 0));
  }
};

struct BatchNormReduceGrad final : ChannelStep {
  Tensor grad_output, diff_scale, diff_offset, batch_mean, batch_variance, grad_input;

  void prepare() override {
    plan(self, &grad_output, grad_input);
    check("diff_scale", diff_scale), check("diff_offset", diff_offset);
    check("batch_mean", batch_mean), check("batch_variance", batch_variance);
  }
  void run() override {
    for (int64_t c = 0; c < channels.count(); ++c) {
      const auto i = static_cast<size_t>(c);
      const double invstd = inverse(parameter(batch_variance, c, 1));
      center[i] = parameter(batch_mean, c, 0);
      scale[i] = invstd * parameter(weight, c, 1);
      shift[i] = parameter(diff_offset, c, 0) / samples();
      // diff_scale is sum(g * (x - mean)) * invstd already: one invstd less than in batch_norm_backward.
      slope[i] = parameter(diff_scale, c, 0) * invstd / samples();
    }
    map(Channels::Map::kGradient);
  }
};

// Given statistics do not depend on x: what is left of the gradient is a factor a channel.
struct BatchNormInferGrad final : ChannelStep {
  Tensor grad_output, batch_variance, grad_input;

  void prepare() override {
    plan(grad_output, nullptr, grad_input);
    check("batch_variance", batch_variance);
  }
  void run() override {
    for (int64_t c = 0; c < channels.count(); ++c)
      scale[static_cast<size_t>(c)] = inverse(parameter(batch_variance, c, 1)) * parameter(weight, c, 1);
    map(Channels::Map::kAffine);
  }
};

NPU_OPERATOR(BatchNormUpdate, "batch_norm_update", "norm", in<&BatchNormUpdate::self>("self"),
             in<&BatchNormUpdate::sum>("sum"), in<&BatchNormUpdate::square_sum>("square_sum"),
             optional<&BatchNormUpdate::weight>("weight"), optional<&BatchNormUpdate::bias>("bias"),
             inout<&BatchNormUpdate::running_mean>("running_mean"), inout<&BatchNormUpdate::running_var>("running_var"),
             attr<&BatchNormUpdate::momentum>("momentum"), attr<&BatchNormUpdate::eps>("eps"),
             out<&BatchNormUpdate::out>("out"), optional_out<&BatchNormUpdate::batch_mean>("batch_mean"),
             optional_out<&BatchNormUpdate::batch_variance>("batch_variance"));
NPU_OPERATOR(BatchNormReduceGrad, "batch_norm_reduce_grad", "norm",
             in<&BatchNormReduceGrad::grad_output>("grad_output"), in<&BatchNormReduceGrad::self>("self"),
             in<&BatchNormReduceGrad::diff_scale>("diff_scale"), in<&BatchNormReduceGrad::diff_offset>("diff_offset"),
             optional<&BatchNormReduceGrad::weight>("weight"), in<&BatchNormReduceGrad::batch_mean>("batch_mean"),
             in<&BatchNormReduceGrad::batch_variance>("batch_variance"), attr<&BatchNormReduceGrad::eps>("eps"),
             out<&BatchNormReduceGrad::grad_input>("grad_input"));
NPU_OPERATOR(BatchNormInferGrad, "batch_norm_infer_grad", "norm", in<&BatchNormInferGrad::grad_output>("grad_output"),
             optional<&BatchNormInferGrad::weight>("weight"), in<&BatchNormInferGrad::batch_variance>("batch_variance"),
             attr<&BatchNormInferGrad::eps>("eps"), out<&BatchNormInferGrad::grad_input>("grad_input"));

}  // namespace
}  // namespace npu::ops
