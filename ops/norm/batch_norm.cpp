// SPDX-License-Identifier: Apache-2.0
// Batch normalisation of [N, C, …] per channel, and its gradient. Parameters and statistics may have another floating
// type than the input (float32 beside float16).
#include <cmath>

#include "ops/norm/channels.h"
#include "ops/norm/parameter.h"
#include "ops/operator.h"

namespace npu::ops {
namespace {

// In training the batch's own statistics are used, and move the running ones; otherwise the running ones are used and
// nothing moves. Clients that keep the variance itself take save_var, the others save_invstd.
struct BatchNorm final : Operator {
  Tensor self, weight, bias, running_mean, running_var, out, save_mean, save_invstd, save_var;
  bool training = false;
  double momentum = 0.1;
  double eps = 1e-5;
  Channels channels;
  std::vector<double> center, scale, shift;

  void prepare() override;
  void run() override;
  int64_t cost() const override { return channels.cost(); }

 private:
  void normalise(int64_t c, double mean, double var);
  void update_running(int64_t c, double mean, double deviations);
};

void check_statistics(const Tensor& mean, const Tensor& var, int64_t channels, bool needed) {
  check_parameter("running_mean", mean, channels);
  check_parameter("running_var", var, channels);
  require(!needed || (mean.defined() && var.defined()),
          "running_mean and running_var are needed when training is false; pass both, or train");
}

void BatchNorm::prepare() {
  const DType slot = norm_slot(self);
  require(self.rank() >= 2, "self is {}: batch norm takes [N, C, ...]; add a batch dimension", self);
  channels.plan(self, nullptr, &out, 1, slot);
  const int64_t count = channels.count();
  check_parameter("weight", weight, count);
  check_parameter("bias", bias, count);
  check_statistics(running_mean, running_var, count, !training);
  // In evaluation nothing is saved; clients then pass empty tensors.
  check_parameter("save_mean", save_mean, training || save_mean.count() != 0 ? count : 0);
  check_parameter("save_invstd", save_invstd, training || save_invstd.count() != 0 ? count : 0);
  check_parameter("save_var", save_var, count);
  for (auto* list : {&center, &scale, &shift}) list->resize(static_cast<size_t>(count));
}

void BatchNorm::normalise(int64_t c, double mean, double var) {
  const double invstd = 1 / std::sqrt(var + eps);
  const auto i = static_cast<size_t>(c);
  center[i] = mean;
  // The mean stays a coefficient of its own: folded into the shift it would cancel against x * scale.
  scale[i] = invstd * parameter(weight, c, 1);
  shift[i] = parameter(bias, c, 0);
  set_parameter(save_mean, c, mean);
  set_parameter(save_invstd, c, invstd);
  set_parameter(save_var, c, var);
}

void BatchNorm::update_running(int64_t c, double mean, double deviations) {
  // Running statistics keep the unbiased variance, as torch's do, though normalisation divides by the count itself.
  const double unbiased = deviations / static_cast<double>(channels.samples() - 1);
  set_parameter(running_mean, c, momentum * mean + (1 - momentum) * parameter(running_mean, c, 0));
  set_parameter(running_var, c, momentum * unbiased + (1 - momentum) * parameter(running_var, c, 0));
}

void BatchNorm::run() {
  // Arrays that `finish` fills between the sums and the map of the same channels.
  const ChannelMap map{center.data(), scale.data(), shift.data()};
  const auto samples = static_cast<double>(channels.samples());
  // Statistics are given, or there is nothing to take them from: one pass over the elements is enough.
  if (!training || samples == 0) {
    for (int64_t c = 0; c < channels.count(); ++c) {
      normalise(c, training ? 0 : parameter(running_mean, c, 0), training ? 1 : parameter(running_var, c, 1));
    }
    channels.run(Channels::Sums::kNone, {}, Channels::Map::kAffine, map);
    return;
  }
  const auto finish = [&](int64_t begin, int64_t end, const ChannelSums* sums) {
    for (int64_t c = begin; c < end; ++c) {
      const ChannelSums& s = sums[c - begin];
      normalise(c, s.first, s.second / samples);
      update_running(c, s.first, s.second);
    }
  };
  channels.run(Channels::Sums::kMoments, finish, Channels::Map::kAffine, map);
}

struct BatchNormBackward final : Operator {
  Tensor grad_output, self, weight, running_mean, running_var, save_mean, save_invstd, save_var;
  bool training = false;
  double eps = 1e-5;
  std::vector<bool> output_mask{true, true, true};
  Tensor grad_input, grad_weight, grad_bias;
  Channels channels;
  std::vector<double> center, scale, shift, slope;

  void prepare() override;
  void run() override;
  int64_t cost() const override { return 2 * channels.cost(); }

 private:
  bool wanted(size_t which, const Tensor& t) const {
    return t.defined() && (which >= output_mask.size() || output_mask[which]);
  }
  // Clients hand over what their forward call has kept: the inverse deviation, or the variance.
  double invstd_of(int64_t c) const {
    if (training && save_invstd.defined()) return parameter(save_invstd, c, 1);
    return 1 / std::sqrt(parameter(training ? save_var : running_var, c, 1) + eps);
  }
  void finish(int64_t c, const ChannelSums& sums);
};

void BatchNormBackward::prepare() {
  require(self.rank() >= 2, "self is {}: batch norm takes [N, C, ...]; add a batch dimension", self);
  channels.plan(self, &grad_output, wanted(0, grad_input) ? &grad_input : nullptr, 1, norm_slot(self));
  const int64_t count = channels.count();
  check_parameter("weight", weight, count);
  check_statistics(running_mean, running_var, count, !training);
  if (training) {
    require(save_mean.defined() && (save_invstd.defined() || save_var.defined()),
            "save_mean and save_invstd (or save_var) are needed when training; pass what the forward call wrote");
    check_parameter("save_mean", save_mean, count);
    check_parameter("save_var", save_var, count);
    check_parameter("save_invstd", save_invstd, count);
  }
  if (wanted(1, grad_weight)) check_parameter("grad_weight", grad_weight, count);
  if (wanted(2, grad_bias)) check_parameter("grad_bias", grad_bias, count);
  for (auto* list : {&center, &scale, &shift, &slope}) list->resize(static_cast<size_t>(count));
}

// dx = (g - mean(g) - (x - mean) * invstd² * mean(g * (x - mean))) * invstd * weight. Statistics that were given, not
// taken from x, have no gradient: both means are then left out.
void BatchNormBackward::finish(int64_t c, const ChannelSums& sums) {
  const auto i = static_cast<size_t>(c);
  const double invstd = invstd_of(c);
  const double share = training && channels.samples() > 0 ? 1 / static_cast<double>(channels.samples()) : 0;
  scale[i] = invstd * parameter(weight, c, 1);
  shift[i] = sums.first * share;
  slope[i] = sums.second * share * invstd * invstd;
  if (wanted(1, grad_weight)) set_parameter(grad_weight, c, sums.second * invstd);
  if (wanted(2, grad_bias)) set_parameter(grad_bias, c, sums.first);
}

void BatchNormBackward::run() {
  for (int64_t c = 0; c < channels.count(); ++c) {
    // Needed before the sums: products are taken with the distance to the mean.
    center[static_cast<size_t>(c)] = parameter(training ? save_mean : running_mean, c, 0);
  }
  const ChannelMap map{center.data(), scale.data(), shift.data(), slope.data()};
  channels.run(
      Channels::Sums::kProducts,
      [&](int64_t begin, int64_t end, const ChannelSums* sums) {
        for (int64_t c = begin; c < end; ++c) finish(c, sums[c - begin]);
      },
      wanted(0, grad_input) ? Channels::Map::kGradient : Channels::Map::kNone, map);
}

NPU_OPERATOR(BatchNorm, "batch_norm", "norm", in<&BatchNorm::self>("self"), optional<&BatchNorm::weight>("weight"),
             optional<&BatchNorm::bias>("bias"), optional<&BatchNorm::running_mean>("running_mean"),
             optional<&BatchNorm::running_var>("running_var"), attr<&BatchNorm::training>("training"),
             attr<&BatchNorm::momentum>("momentum"), attr<&BatchNorm::eps>("eps"), out<&BatchNorm::out>("out"),
             optional_out<&BatchNorm::save_mean>("save_mean"), optional_out<&BatchNorm::save_invstd>("save_invstd"),
             optional_out<&BatchNorm::save_var>("save_var"));
NPU_OPERATOR(BatchNormBackward, "batch_norm_backward", "norm", in<&BatchNormBackward::grad_output>("grad_output"),
             in<&BatchNormBackward::self>("self"), optional<&BatchNormBackward::weight>("weight"),
             optional<&BatchNormBackward::running_mean>("running_mean"),
             optional<&BatchNormBackward::running_var>("running_var"),
             optional<&BatchNormBackward::save_mean>("save_mean"),
             optional<&BatchNormBackward::save_invstd>("save_invstd"),
             optional<&BatchNormBackward::save_var>("save_var"), attr<&BatchNormBackward::training>("training"),
             attr<&BatchNormBackward::eps>("eps"), attr<&BatchNormBackward::output_mask>("output_mask"),
             optional_out<&BatchNormBackward::grad_input>("grad_input"),
             optional_out<&BatchNormBackward::grad_weight>("grad_weight"),
             optional_out<&BatchNormBackward::grad_bias>("grad_bias"));

}  // namespace
}  // namespace npu::ops
