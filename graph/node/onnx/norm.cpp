// SPDX-License-Identifier: Apache-2.0
// Normalisations of ONNX, and softmax along any axis.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/thread_pool.h"
#include "graph/node/onnx/floats.h"

namespace npu::graph::onnx {
namespace {

std::vector<int64_t> all_but_channels(size_t rank) {
  std::vector<int64_t> out{0};
  for (size_t i = 2; i < rank; ++i) out.push_back(static_cast<int64_t>(i));
  return out;
}

/// Mean and biased variance of x over `axes`.
void moments(Lowering& l, const Planned& x, const std::vector<int64_t>& axes, bool keep, const Planned& mean,
             const Planned& variance) {
  l.call("var")
      .set("self", x)
      .set("dim", axes)
      .set("correction", int64_t{0})
      .set("keepdim", keep)
      .set("out", variance)
      .set("mean", mean);
}

/// running = old · momentum + now · (1 - momentum).
void blend(Lowering& l, const Planned& old, const Planned& now, double momentum, const Planned& out) {
  const Planned part = l.scratch(now.dtype(), now.shape());
  l.call("mul").set("self", now).set("other", number_of(Scalar(1 - momentum))).set("out", part);
  l.call("mul").set("self", old).set("other", number_of(Scalar(momentum))).set("out", out);
  l.call("add").set("self", out).set("other", part).set("out", out);
}

struct Statistics {
  Planned mean, variance;
};

/// Those of x; the outputs are the running ones (momentum) and, in opsets before 14, those of x as well.
Statistics trained(Lowering& l, const Planned& x, const Statistics& old) {
  const double momentum = float_attribute(l, "momentum", 0.9);
  const DType type = old.mean.dtype();
  const Dims& channels = old.mean.shape();
  const auto room = [&](size_t i) { return wants(l, i) ? l.make(i, type, channels) : l.scratch(type, channels); };
  const Statistics now{room(3), room(4)};
  moments(l, x, all_but_channels(x.shape().size()), false, now.mean, now.variance);
  if (wants(l, 1)) blend(l, old.mean, now.mean, momentum, l.make(1, type, channels));
  if (wants(l, 2)) blend(l, old.variance, now.variance, momentum, l.make(2, type, channels));
  return now;
}

/// y = (x - mean) / sqrt(variance + epsilon) · scale + B.
void batch_norm(Lowering& l) {
  require_floats(l, 0);
  const Planned x = l.input(at(l, 0));
  require(x.shape().size() >= 2, "x is {}; it needs batch and channels", x.shape());
  require(int_attribute(l, "spatial", 1) != 0, "spatial is 0, which opset 9 took away; export the model anew");
  const Dims channels{x.shape()[1]};
  for (const size_t i : {1U, 2U, 3U, 4U})
    require(l.shape(at(l, i)) == channels, "input {} is {}; it needs one number for each of {} channels", i,
            l.shape(at(l, i)), channels[0]);
  const bool training = opset(l) >= 14 ? int_attribute(l, "training_mode", 0) != 0 : wants(l, 1);
  require(training || !wants(l, 1), "it has {} outputs without training_mode; they are given in training only",
          l.node().outputs.size());
  const Statistics given{l.input(at(l, 3)), l.input(at(l, 4))};
  const Planned y = l.make(0, x.dtype(), x.shape());
  const Statistics used = training ? trained(l, x, given) : given;
  if (y.view.count() == 0) return;
  l.call("batch_norm")
      .set("self", x)
      .set("weight", l.input(at(l, 1)))
      .set("bias", l.input(at(l, 2)))
      .set("running_mean", used.mean)
      .set("running_var", used.variance)
      .set("training", false)
      .set("eps", float_attribute(l, "epsilon", 1e-5))
      .set("out", y);
}

/// Groups of channels of each image are normalised by their own moments; weight and bias are per channel.
void group_norm(Lowering& l, int64_t groups, const Planned& weight, const Planned& bias) {
  require_floats(l, 0);
  const Planned x = l.input(0);
  const Dims& shape = x.shape();
  require(shape.size() >= 2 && groups > 0 && shape[1] % groups == 0,
          "the input is {}; its channels do not make {} groups", shape, groups);
  const Planned out = l.make(0, x.dtype(), shape);
  if (out.view.count() == 0) return;
  require(x.dtype() != DType::kDouble, "the input is double; normalisation of groups takes float and half: cast it");
  l.call("group_norm")
      .set("self", x)
      .set("weight", weight)
      .set("bias", bias)
      .set("group", groups)
      .set("eps", float_attribute(l, "epsilon", 1e-5))
      .set("out", out)
      .set("mean", l.scratch(DType::kFloat, {shape[0], groups}));
}

void instance_norm(Lowering& l) {
  require(l.shape(0).size() >= 2, "the input is {}; it needs batch and channels", l.shape(0));
  group_norm(l, l.shape(0)[1], l.input(at(l, 1)), l.input(at(l, 2)));
}

/// One number for each group, laid along its channels.
Planned along_group(Lowering& l, const Planned& numbers, int64_t groups, int64_t channels) {
  if (numbers.shape() == Dims{channels}) return numbers;
  require(numbers.shape() == Dims{groups},
          "scale or bias is {}; it needs one number for each of {} groups or {} channels", numbers.shape(), groups,
          channels);
  const Planned out = l.scratch(numbers.dtype(), {groups, channels / groups});
  copy(l, expanded(restrided(numbers, {groups, 1}, {numbers.view.strides[0], 1}), out.shape()), out);
  return reshaped(out, {channels});
}

void grouped_norm(Lowering& l) {
  const int64_t groups = l.attributes().get<int64_t>("num_groups");
  require(l.shape(0).size() >= 2 && groups > 0 && l.shape(0)[1] % groups == 0,
          "the input is {}; its channels do not make {} groups", l.shape(0), groups);
  const int64_t channels = l.shape(0)[1];
  const Planned weight = along_group(l, l.input(at(l, 1)), groups, channels);
  group_norm(l, groups, weight, along_group(l, l.input(at(l, 2)), groups, channels));
}

/// Weight or bias as large as what is normalised.
Planned as_rows(Lowering& l, const Planned& in, const Dims& normalised) {
  if (in.shape() == normalised) return in;
  const Planned out = l.scratch(in.dtype(), normalised);
  copy(l, expanded(in, normalised), out);
  return out;
}

void layer_norm(Lowering& l) {
  require_floats(l, 0);
  const Planned x = l.input(at(l, 0));
  const Dims shape = x.shape();
  const size_t axis = checked_axis(int_attribute(l, "axis", -1), shape.size());
  Dims moments = shape, normalised;
  for (size_t i = axis; i < shape.size(); ++i) moments[i] = 1, normalised.push_back(shape[i]);
  const Planned y = l.make(0, x.dtype(), shape), weight = as_rows(l, l.input(at(l, 1)), normalised);
  std::vector<Planned> more;
  for (size_t i = 1; i < l.node().outputs.size(); ++i) more.push_back(l.make(i, out_type(l, i), moments));
  if (y.view.count() == 0) return;
  std::optional<Planned> bias;
  if (has(l, 2)) bias = as_rows(l, l.input(at(l, 2)), normalised);
  OperatorCall call = l.call("layer_norm");
  call.set("self", x).set("normalized_shape", sizes_of(normalised)).set("weight", weight).set("out", y);
  call.set("eps", float_attribute(l, "epsilon", 1e-5));
  if (bias) call.set("bias", *bias);
  if (!more.empty()) call.set("mean", more[0]);
  if (more.size() > 1) call.set("rstd", more[1]);
}

/// x / sqrt(mean of squares + epsilon) · scale over the axes from `axis` on; the sums are taken in float or double.
void rms_norm(Lowering& l) {
  require_floats(l, 0);
  const Planned x = l.input(at(l, 0));
  const Dims shape = x.shape();
  const size_t axis = checked_axis(int_attribute(l, "axis", -1), shape.size());
  std::vector<int64_t> axes;
  Dims kept = shape;
  for (size_t i = axis; i < shape.size(); ++i) axes.push_back(static_cast<int64_t>(i)), kept[i] = 1;
  const Planned scale = expanded(l.input(at(l, 1)), shape), y = l.make(0, out_type(l), shape);
  if (y.view.count() == 0) return;
  const DType slot = slot_of(x.dtype());
  const Planned wide = rows_of(l, x, slot), square = l.scratch(slot, shape), rms = l.scratch(slot, kept);
  l.call("mul").set("self", wide).set("other", wide).set("out", square);
  l.call("mean").set("self", square).set("dim", axes).set("keepdim", true).set("out", rms);
  change(l, "add", rms, Scalar(float_attribute(l, "epsilon", 1e-5)));
  l.call("rsqrt").set("self", rms).set("out", rms);
  l.call("mul").set("self", wide).set("other", rms).set("out", square);
  l.call("mul").set("self", square).set("other", scale).set("out", y);
}

/// x / (bias + alpha / size · sum of squares of the channels around)^beta.
struct Response {
  int64_t size;
  double alpha, beta, bias;
};

template <class T>
void respond(const Response& r, const T* x, T* y, int64_t channels, int64_t plane) {
  const int64_t before = (r.size - 1) / 2, after = r.size - 1 - before;
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t i = 0; i < plane; ++i) {
      double sum = 0;
      for (int64_t k = std::max<int64_t>(c - before, 0); k <= std::min(c + after, channels - 1); ++k) {
        const auto value = static_cast<double>(x[k * plane + i]);
        sum += value * value;
      }
      const double norm = std::pow(r.bias + r.alpha / static_cast<double>(r.size) * sum, r.beta);
      y[c * plane + i] = static_cast<T>(static_cast<double>(x[c * plane + i]) / norm);
    }
}

void local_response(Lowering& l) {
  require_floats(l, 0);
  const Planned x = l.input(0);
  const Dims shape = x.shape();
  require(shape.size() >= 3, "the input is {}; it needs batch, channels and an axis more", shape);
  const Response r{l.attributes().get<int64_t>("size"), float_attribute(l, "alpha", 1e-4),
                   float_attribute(l, "beta", 0.75), float_attribute(l, "bias", 1)};
  require(r.size > 0, "size is {}; it must be at least 1", r.size);
  const DType slot = slot_of(x.dtype());
  const Planned in = rows_of(l, x, slot);
  const Result out = result(l, 0, x.dtype(), shape, slot);
  if (out.out.view.count() == 0) return;
  l.run({in, out.rows}, [=, to = out.rows](Frame& frame) {
    const Tensor from = frame.tensor(in), y = frame.tensor(to);
    const int64_t image = from.count() / shape[0];
    in_slot(slot, [&](auto zero) {
      using T = decltype(zero);
      parallel_parts(shape[0], [&](int64_t n) {
        respond(r, from.as<T>() + n * image, y.as<T>() + n * image, shape[1], image / shape[1]);
      });
    });
  });
  out.store(l);
}

/// (x - mean) / (standard deviation + 1e-9) over the axes.
void mean_variance(Lowering& l) {
  require_floats(l, 0);
  const Planned x = l.input(0), out = l.make(0, x.dtype(), x.shape());
  Dims shape = x.shape();
  const auto axes = list_attribute(l, "axes", {0, 2, 3});
  for (const int64_t axis : axes) shape[checked_axis(axis, shape.size())] = 1;
  if (out.view.count() == 0) return;
  const Planned mean = l.scratch(x.dtype(), shape), spread = l.scratch(x.dtype(), shape);
  moments(l, x, axes, true, mean, spread);
  l.call("sqrt").set("self", spread).set("out", spread);
  change(l, "add", spread, Scalar(1e-9));
  l.call("sub").set("self", x).set("other", mean).set("out", out);
  l.call("div").set("self", out).set("other", spread).set("out", out);
}

/// x divided by its 1- or 2-norm along an axis; zeros stay.
void lp_norm(Lowering& l) {
  require_floats(l, 0);
  const Planned x = l.input(0), out = l.make(0, x.dtype(), x.shape());
  const size_t axis = checked_axis(int_attribute(l, "axis", -1), x.shape().size());
  const int64_t p = int_attribute(l, "p", 2);
  require(p == 1 || p == 2, "p is {}; it must be 1 or 2", p);
  if (out.view.count() == 0) return;
  Dims shape = x.shape();
  shape[axis] = 1;
  const Planned each = l.scratch(x.dtype(), x.shape()), norm = l.scratch(x.dtype(), shape);
  if (p == 1)
    l.call("abs").set("self", x).set("out", each);
  else
    l.call("mul").set("self", x).set("other", x).set("out", each);
  l.call("sum")
      .set("self", each)
      .set("dim", std::vector<int64_t>{static_cast<int64_t>(axis)})
      .set("keepdim", true)
      .set("out", norm);
  if (p == 2) l.call("sqrt").set("self", norm).set("out", norm);
  const Planned zero = l.scratch(DType::kBool, shape);
  l.call("eq").set("self", norm).set("other", number_of(Scalar(0))).set("out", zero);
  l.call("where").set("condition", zero).set("self", number_of(Scalar(1))).set("other", norm).set("out", norm);
  l.call("div").set("self", x).set("other", norm).set("out", out);
}

/// Along one axis; before opset 13 along all axes from `axis` on.
void softmax(Lowering& l) {
  require_floats(l, 0);
  const bool flat = opset(l) < 13;
  const Dims& shape = l.shape(0);
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t given = int_attribute(l, "axis", flat ? 1 : -1);
  require(given >= -rank && given <= rank - (flat ? 0 : 1), "axis {} lies outside of {} axes", given, rank);
  const int64_t axis = given < 0 ? given + rank : given;
  const Planned out = l.make(0, l.dtype(0), shape);
  if (out.view.count() == 0) return;
  if (!flat) {
    l.call(l.target()).set("self", l.input(0)).set("dim", axis).set("out", out);
    return;
  }
  Dims matrix{1, 1};
  for (int64_t i = 0; i < rank; ++i) matrix[i < axis ? 0 : 1] *= shape[static_cast<size_t>(i)];
  const Planned rows = in_rows(l, l.input(0));
  l.call(l.target()).set("self", reshaped(rows, matrix)).set("dim", int64_t{1}).set("out", reshaped(out, matrix));
}

NPU_NODE("ai.onnx::BatchNormalization", batch_norm);
NPU_NODE("ai.onnx::InstanceNormalization", instance_norm);
NPU_NODE("ai.onnx::GroupNormalization", grouped_norm);
NPU_NODE("ai.onnx::LayerNormalization", layer_norm);
NPU_NODE("ai.onnx::RMSNormalization", rms_norm);
NPU_NODE("ai.onnx::LRN", local_response);
NPU_NODE("ai.onnx::MeanVarianceNormalization", mean_variance);
NPU_NODE("ai.onnx::LpNormalization", lp_norm);
NPU_NODE("ai.onnx::Softmax", softmax, "softmax");
NPU_NODE("ai.onnx::LogSoftmax", softmax, "log_softmax");

}  // namespace
}  // namespace npu::graph::onnx
