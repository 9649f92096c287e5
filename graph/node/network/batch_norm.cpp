// SPDX-License-Identifier: Apache-2.0
// Batch normalisation and its gradient. The reserved outputs hold what TensorFlow's CPU kernels keep there: the batch's
// mean and its biased variance.
#include <cmath>

#include "graph/node/layout.h"

namespace npu::graph {
namespace {

double number_of(const Lowering& l, std::string_view name, double otherwise) {
  return l.attributes().get_or<double>(name, otherwise);
}

bool training(const Lowering& l) { return l.attributes().get_or<bool>("is_training", true); }

void check(const Lowering& l, const Planned& images) {
  if (!is_floating(images.dtype())) l.decline(fmt::format("it normalises {}", images.dtype()));
  require(images.shape().size() >= 4, "x is {}; batch normalisation takes 4 or 5 dimensions", images.shape());
}

/// One sample says nothing about the variance of all: TensorFlow takes 0, the operator the quotient 0 / 0.
void replace_variance(Lowering& l, const Planned& var, double share) {
  if (share == 1) return fill(l, var, Scalar(0));
  l.call("mul").set("self", l.input(4)).set("other", number(Scalar(1 - share))).set("out", var);
}

/// Inputs x, scale, offset, mean, variance. Outputs y, batch_mean, batch_variance and the reserves.
void forward(Lowering& l) {
  const bool last = channels_last(l);
  const Planned images = channels_first(l.input(0), last);
  check(l, images);
  const int64_t channels = images.shape()[1];
  const DType stored = l.dtype(1);
  const double share = number_of(l, "exponential_avg_factor", 1);
  const Planned y = l.make(0, l.dtype(0), l.shape(0));
  Planned moments[4];
  for (size_t i = 0; i < 4; ++i) moments[i] = l.make(i + 1, stored, {channels});
  // Kernels have what they like in the third reserve; this is what TensorFlow's without oneDNN leave there.
  if (l.node().outputs.size() > 5) fill(l, l.make(5, stored, {}), Scalar(0));
  if (training(l) && y.view.count() == 0) {
    for (size_t i = 0; i < 4; ++i) fill(l, moments[i], Scalar(i < 2 ? std::nan("") : 0.0));
    return;
  }
  if (!training(l) || share != 1) {
    for (const size_t i : {3U, 4U})
      require(l.shape(i) == Dims{channels}, "input {} is {}, there are {} channels", i, l.shape(i), channels);
    for (size_t i = 0; i < (training(l) ? 2U : 4U); ++i)
      l.call("copy").set("self", l.input(3 + i % 2)).set("out", moments[i]);
  } else {
    fill(l, moments[0], Scalar(0)), fill(l, moments[1], Scalar(0));
  }
  OperatorCall call = l.call("batch_norm");
  call.set("self", images).set("weight", l.input(1)).set("bias", l.input(2)).set("out", channels_first(y, last));
  call.set("running_mean", moments[0]).set("running_var", moments[1]).set("training", training(l));
  call.set("momentum", share).set("eps", number_of(l, "epsilon", 1e-4));
  if (!training(l)) return;
  call.set("save_mean", moments[2]).set("save_var", moments[3]).set("save_invstd", l.scratch(stored, {channels}));
  if (images.view.count() <= channels) replace_variance(l, moments[1], share);
}

/// Inputs y_backprop, x, scale, mean, variance. Outputs the gradients of x, scale and offset, and two reserves without
/// use.
void gradient(Lowering& l) {
  const bool last = channels_last(l);
  const Planned images = channels_first(l.input(1), last);
  check(l, images);
  const DType stored = l.dtype(2);
  const Dims channels{images.shape()[1]};
  const Planned dx = l.make(0, l.dtype(1), l.shape(1));
  const Planned dscale = l.make(1, stored, channels), doffset = l.make(2, stored, channels);
  for (const size_t reserve : {3U, 4U}) l.make(reserve, stored, {0});
  OperatorCall call = l.call("batch_norm_backward");
  call.set("grad_output", channels_first(l.input(0), last)).set("self", images).set("weight", l.input(2));
  call.set(training(l) ? "save_mean" : "running_mean", l.input(3));
  call.set(training(l) ? "save_var" : "running_var", l.input(4));
  call.set("training", training(l)).set("eps", number_of(l, "epsilon", 1e-4));
  call.set("grad_input", channels_first(dx, last)).set("grad_weight", dscale).set("grad_bias", doffset);
}

NPU_NODE(Kind::kBatchNorm, forward);
NPU_NODE(Kind::kBatchNormGrad, gradient);

}  // namespace
}  // namespace npu::graph
