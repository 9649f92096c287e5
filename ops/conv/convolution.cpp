// SPDX-License-Identifier: Apache-2.0
// The client's operators: they check, turn a transposed convolution into the passes of the plain one, and leave the
// computing to the first kernel that takes the geometry (kernel.h).
#include <vector>

#include "ops/conv/geometry.h"
#include "ops/cube/channels_last.h"
#include "ops/operator.h"
#include "ops/scratch.h"
#include "ops/vector/chain/chain_after.h"

namespace npu::ops {
namespace {

using cube::ConvPass;

void require_floating(const char* name, const Tensor& t) {
  require(!t.defined() || is_floating(t.dtype), "{} is {}: convolution computes float tensors; cast it first", name,
          t.dtype);
}

void require_dims(const char* name, const Tensor& t, const Dims& shape) {
  require(t.shape == shape, "{} is {}, the arguments give {}", name, t.shape, shape);
}

void require_followed(const std::shared_ptr<const ChainProgram>& chain, bool never, const char* name, const Tensor& t) {
  // A chain goes over pieces of dense memory as they are written; other layouts are put together at the end.
  require(chain == nullptr || (!never && cube::is_channels_last(t)),
          "{} is {}: a chain follows channels-last images only", name, t);
}

// Transposed convolution runs the passes of the convolution it turns around: what is written there is src.
ConvTensors arrange(bool transposed, const Tensor& input, const Tensor& weight, const Tensor& bias,
                    const Tensor& output, bool kept_weight = false) {
  const Tensor& src = transposed ? output : input;
  const Tensor& dst = transposed ? input : output;
  return {at_least_2d(src), at_least_2d(weight), bias, at_least_2d(dst), kept_weight};
}

/// out = convolution of input [n, c, spatial…] with weight [o, c / groups, kernel…] (transposed: [c, o / groups,
/// kernel…]) plus bias [o]; 1 to 3 spatial axes; padding per axis, or before and after each.
/// A chain may follow, over channels-last `out`.
struct Convolution final : ChainAfter {
  Tensor input, weight, bias, out;
  std::vector<int64_t> stride, padding, dilation, output_padding;
  bool transposed = false, kept_weight = false;  ///< kept_weight: elements of weight never change
  int64_t groups = 1;

  void prepare() override;
  void run() override;
  /// Kernels take the tensors with each run.
  void moved() override { add_bias_ == nullptr ? move_chain() : prepare(); }
  /// About 32 multiply-adds a nanosecond, as Product::cost counts; a call takes some at any size.
  int64_t cost() const override { return work_ / 32 + 2000 + chain_cost(); }

 private:
  std::unique_ptr<ConvKernel> kernel_;
  std::unique_ptr<Operator> add_bias_;
  Tensor sums_;  ///< what the bias is added to: out, or wider numbers, which take their room with each run
  int64_t work_ = 0;
};

// `out` in what `tensors` are computed in, so that it is rounded once, when the bias is there; dense as `out` lies.
Tensor sums_of(const ConvTensors& tensors, const Tensor& out) {
  const DType slot = conv_slot(tensors);
  if (size_of(out.dtype) >= size_of(slot)) return out;
  Tensor sums = make_tensor(nullptr, slot, out.shape);
  if (out.span() == out.count()) sums.strides = out.strides;
  return sums;
}

// A field of another operator, by name.
template <class T>
T& field(Operator& op, std::string_view name) {
  return op.def->field(name)->of<T>(op);
}

void Convolution::prepare() {
  const ConvOptions options{stride, padding, dilation, output_padding, transposed, groups};
  const Dims shape = conv_output_shape(input, weight, options);
  require_floating("input", input), require_floating("weight", weight), require_floating("bias", bias);
  require_floating("out", out);
  require_dims("out", out, shape);
  if (bias.defined()) require_dims("bias", bias, {shape[1]});
  require_followed(chain, transposed, "out", out);
  prepare_chain();
  // Not earlier: an empty batch is refused for the same mistakes as a full one.
  if (out.count() == 0) return;
  const cube::ConvShape geometry = conv_shape(input, weight, out, options);
  work_ = geometry.work();
  // The data gradient takes no bias: its kernels add patches up in images, where a bias would come once per patch.
  if (!transposed || !bias.defined()) {
    kernel_ = make_conv(transposed ? ConvPass::kBackwardData : ConvPass::kForward, geometry,
                        arrange(transposed, input, weight, bias, out, kept_weight));
    return;
  }
  sums_ = sums_of(arrange(transposed, input, weight, {}, out), out);
  kernel_ = make_conv(ConvPass::kBackwardData, geometry, arrange(transposed, input, weight, {}, sums_));
  Tensor spread = bias;  // one value per channel, repeated over images and pixels
  spread.shape = out.shape, spread.strides = Dims(out.rank(), 0);
  spread.strides[1] = bias.strides[0];
  add_bias_ = create(*find_operator("add"));
  field<Operand>(*add_bias_, "self") = {sums_, {}};
  field<Operand>(*add_bias_, "other") = {spread, {}};
  field<Tensor>(*add_bias_, "out") = out;
  add_bias_->prepare();
}

void Convolution::run() {
  if (kernel_ == nullptr) return;
  if (add_bias_ == nullptr) return kernel_->run(arrange(transposed, input, weight, bias, out, kept_weight), after());
  const bool wider = sums_.dtype != out.dtype;
  // Taken with each run: a plan that only waits holds no memory.
  const Scratch<std::byte> room(wider ? bytes_of(sums_) : 0);
  if (wider) {
    field<Operand>(*add_bias_, "self").tensor.data = sums_.data = room.data();
    add_bias_->moved();
  }
  kernel_->run(arrange(transposed, input, weight, {}, sums_), nullptr);
  add_bias_->run();
}

/// Gradients of a convolution; output_mask says which of input, weight and bias are wanted.
/// A chain may follow, over a channels-last `grad_input` that is wanted alone.
struct ConvolutionBackward final : ChainAfter {
  Tensor grad_output, input, weight, grad_input, grad_weight, grad_bias;
  std::vector<int64_t> bias_sizes, stride, padding, dilation, output_padding;
  bool transposed = false;
  int64_t groups = 1;
  std::vector<bool> output_mask;

  void prepare() override;
  void run() override;
  void moved() override { bias_ == nullptr ? move_chain() : prepare(); }
  /// Two passes, twice the work of the forward one.
  int64_t cost() const override { return work_ / 16 + 4000 + chain_cost(); }

 private:
  bool wanted(size_t which) const { return which < output_mask.size() && output_mask[which]; }
  void prepare_bias();

  std::unique_ptr<ConvKernel> data_, weights_;
  std::unique_ptr<Operator> bias_;
  int64_t work_ = 0;
};

void ConvolutionBackward::prepare_bias() {
  require(grad_bias.defined(), "output_mask asks for grad_bias, but none is given");
  require_dims("grad_bias", grad_bias, {grad_output.shape[1]});
  bias_ = create(*find_operator("sum"));
  field<Tensor>(*bias_, "self") = grad_output;
  // All axes but the channels', by the reduction's own fixed order.
  std::vector<int64_t>& dim = field<std::vector<int64_t>>(*bias_, "dim");
  for (size_t d = 0; d < grad_output.rank(); ++d) {
    if (d != 1) dim.push_back(static_cast<int64_t>(d));
  }
  field<Tensor>(*bias_, "out") = grad_bias;
  bias_->prepare();
}

void ConvolutionBackward::prepare() {
  const ConvOptions options{stride, padding, dilation, output_padding, transposed, groups};
  require(output_mask.size() == 3, "output_mask has {} values; give three: input, weight, bias", output_mask.size());
  require_floating("input", input), require_floating("weight", weight), require_floating("grad_output", grad_output);
  require_dims("grad_output", grad_output, conv_output_shape(input, weight, options));
  const cube::ConvShape geometry = conv_shape(input, weight, grad_output, options);
  work_ = geometry.work();
  if (wanted(0)) {
    require(grad_input.defined(), "output_mask asks for grad_input, but none is given");
    require_dims("grad_input", grad_input, input.shape);
    // Turned around, the data gradient of a transposed convolution is a plain forward pass.
    data_ = make_conv(transposed ? ConvPass::kForward : ConvPass::kBackwardData, geometry,
                      arrange(transposed, grad_input, weight, {}, grad_output));
  }
  require_followed(chain, transposed || !wanted(0), "grad_input", grad_input);
  prepare_chain();
  if (wanted(1)) {
    require(grad_weight.defined(), "output_mask asks for grad_weight, but none is given");
    require_dims("grad_weight", grad_weight, weight.shape);
    weights_ =
        make_conv(ConvPass::kBackwardWeights, geometry, arrange(transposed, input, grad_weight, {}, grad_output));
  }
  if (wanted(2)) prepare_bias();
}

void ConvolutionBackward::run() {
  if (data_ != nullptr && grad_input.count() > 0)
    data_->run(arrange(transposed, grad_input, weight, {}, grad_output), after());
  // Also of an empty batch: weights have a size of their own, and their gradient is then zeros.
  if (weights_ != nullptr && grad_weight.count() > 0)
    weights_->run(arrange(transposed, input, grad_weight, {}, grad_output), nullptr);
  if (bias_ != nullptr) bias_->run();
}

#define NPU_CONV_OPTIONS(type)                                                                       \
  attr<&type::stride>("stride"), attr<&type::padding>("padding"), attr<&type::dilation>("dilation"), \
      attr<&type::transposed>("transposed"), attr<&type::output_padding>("output_padding"),          \
      attr<&type::groups>("groups")
const Registration register_convolution =
    Registration(
        "convolution", "conv",
        with_chain<Convolution>({in<&Convolution::input>("input"), in<&Convolution::weight>("weight"),
                                 optional<&Convolution::bias>("bias"), NPU_CONV_OPTIONS(Convolution),
                                 attr<&Convolution::kept_weight>("kept_weight"), out<&Convolution::out>("out")}),
        &make<Convolution>)
        .is(kImages);
const Registration register_convolution_backward =
    Registration("convolution_backward", "conv",
                 with_chain<ConvolutionBackward>(
                     {in<&ConvolutionBackward::grad_output>("grad_output"), in<&ConvolutionBackward::input>("input"),
                      in<&ConvolutionBackward::weight>("weight"), attr<&ConvolutionBackward::bias_sizes>("bias_sizes"),
                      NPU_CONV_OPTIONS(ConvolutionBackward), attr<&ConvolutionBackward::output_mask>("output_mask"),
                      optional_out<&ConvolutionBackward::grad_input>("grad_input"),
                      optional_out<&ConvolutionBackward::grad_weight>("grad_weight"),
                      optional_out<&ConvolutionBackward::grad_bias>("grad_bias")}),
                 &make<ConvolutionBackward>)
        .is(kImages);

}  // namespace
}  // namespace npu::ops
